-- SPDX-License-Identifier: BSD-2-Clause
-- Makes links to the documents links to their pages.
function Link(link)
    if not link.target:match("^%a+:") then
        link.target = link.target:gsub("README%.md", "index.html"):gsub("%.md$", ".html"):gsub("%.md#", ".html#")
            :gsub("session%.sql$", "session.sql.html"):gsub("examples/budgets$", "examples/budgets/index.html")
    end
    return link
end
