-- Makes Lua allocate every kind of its objects.
local t = {}
for i = 1, 2000 do
    t[i] = { a = i, b = "s" .. i, f = function() return i end }
end
local co = coroutine.wrap(function() for i = 1, 10 do coroutine.yield(i) end end)
co()
local r = {}
for i = 1, 500 do r[i] = tostring(i) end
assert(#table.concat(r) > 500)
assert(load("local x = 1; return function(a, b) local c = a + b; goto done; ::done:: return c end"))()
assert(#string.rep("x", 10000) == 10000)
local file = io.open(arg[0])
file:read("a")
file:close()
setmetatable({}, { __gc = function() end, __mode = "k" })
collectgarbage()
