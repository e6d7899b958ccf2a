-- SPDX-License-Identifier: BSD-2-Clause
-- SciTE runs this at its start: one piece of work with marks between its steps, then it quits. The
-- folder, which ends with a slash, has marks.so and big.txt, of 30 MiB.
local folder = os.getenv("MPROF_STUDY")
local MIB = 1048576

local function mark(name)
    local set, why = package.loadlib(folder .. "marks.so", "mark_" .. name)
    if not set then error(why) end
    set()
    io.stderr:write(string.format("%s: %d bytes in %d lines\n", name, editor.Length, editor.LineCount))
end

local function work()
    mark("started")
    scite.Open(folder .. "big.txt")
    mark("opened")
    local file = io.open(folder .. "big.txt", "rb")
    local text = file:read("a")
    file:close()
    -- At two places by turns: two inserts that follow each other would be one action of the history.
    for i = 0, 29 do
        editor:InsertText(i % 2 * 100, text:sub(i * MIB + 1, (i + 1) * MIB))
    end
    text = nil
    collectgarbage()
    mark("pasted")
    for i = 1, 4000 do
        editor:InsertText(i * 7919 % 20000, "abc")
    end
    mark("typed")
    while editor:CanUndo() do
        editor:Undo()
    end
    mark("undone")
    editor:InsertText(0, "x")
    if editor:CanRedo() then error("redo is still possible") end
    mark("one_key")
    editor:EmptyUndoBuffer()
    mark("emptied")
    os.execute("sleep 0.5") -- the user looks at his text
    editor:ClearAll()
    editor:EmptyUndoBuffer()
    editor:SetSavePoint()
    mark("cleared")
    scite.MenuCommand(IDM_CLOSE)
    mark("closed")
end

local done = false
function OnUpdateUI()
    if done then return end
    done = true
    local good, why = pcall(work)
    if not good then io.stderr:write("not done: ", tostring(why), "\n") end
    scite.MenuCommand(IDM_QUIT)
end
