-- SPDX-License-Identifier: BSD-2-Clause
-- page.lua: a page, as HTML that needs nothing else, or as Markdown.
--
-- HTML is light or dark as its reader's screen is, has no script and fetches nothing; wide tables
-- scroll by themselves.  What comes from a result is a text and nothing more: every character with
-- a meaning is written so that it has none.
-- Invariant: no call writes a text unescaped but drawing() its SVG.
local page = {}
page.__index = page

local LONG = 44               -- characters of a cell

local STYLE = [[
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--soft:#5c6670;
--line:#d9dee3;--box:#f5f7f9;--good:#13703f;--bad:#b42318;--odd:#8a5a00;--open:#2457a6}
@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e4e7ea;
--soft:#9aa4ae;--line:#343b42;--box:#1c2126;--good:#58c98b;--bad:#ff8a7a;--odd:#e0b04a;--open:#8ab4f8}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1.25rem 4rem;max-width:64rem;background:var(--bg);color:var(--fg);
font:16px/1.5 system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .5rem}
h2{font-size:1.3rem;margin:2.5rem 0 .4rem;padding-top:1.2rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.6rem 0 .4rem}
p{margin:.3rem 0}
.wide{overflow-x:auto;margin:.4rem 0}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{color:var(--soft);font-weight:600;white-space:nowrap;border-bottom-width:2px}
td{white-space:nowrap}td.n{text-align:right}td.t{white-space:normal;min-width:20rem;max-width:36rem}
figure{margin:.8rem 0;overflow-x:auto}
figure svg{display:block;width:100%;min-width:34rem;max-width:48rem;height:auto;color:var(--fg)}
figcaption{color:var(--soft);font-size:.8rem}
pre{background:var(--box);border:1px solid var(--line);border-radius:.3rem;padding:.7rem .9rem;
overflow-x:auto;font-size:.8rem;line-height:1.45}
ul{margin:.3rem 0;padding-left:1.2rem}
a{color:inherit}
.pass{color:var(--good);font-weight:600}.fail{color:var(--bad);font-weight:600}
.banner{margin:.5rem 0;padding:.4rem .8rem;border-left:.25rem solid var(--open);background:var(--box);font-weight:600}
.odd{color:var(--odd)}.undecided{color:var(--open);font-weight:600}
@media print{body{max-width:none}figure,table{break-inside:avoid}}
]]

-- ---- escaping -------------------------------------------------------------------------------

local ENTITY = {
  ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;",
}

local function html(s) return (s:gsub("[&<>\"']", ENTITY):gsub("[\0-\9\11-\31]", " ")) end

local function markdown(s)
  return (s:gsub("[\\`*_%[%]|#~]", "\\%0"):gsub("[&<]", ENTITY):gsub("[\0-\31]", " "))
end

function page:escape(s) return self.markdown and markdown(s) or html(s) end

-- ---- the page -------------------------------------------------------------------------------

function page.new(is_markdown)
  return setmetatable({ markdown = is_markdown, sections = 1 }, page)
end

function page:put(...)
  for i = 1, select("#", ...) do self[#self + 1] = select(i, ...) end
end

-- One text in Markdown, another in HTML.
function page:either(in_markdown, in_html) self:put(self.markdown and in_markdown or in_html) end

function page:whole() return table.concat(self) end

function page:head(title)
  self:either("<!-- SPDX-License-Identifier: BSD-2-Clause -->\n",
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' ..
    '<meta name="viewport" content="width=device-width,initial-scale=1">\n<title>' .. html(title) ..
    "</title>\n<style>\n" .. STYLE .. "</style>\n</head>\n<body>\n")
end

function page:foot() self:either("", "</body>\n</html>\n") end

function page:title(level, s)
  if self.markdown then
    self:put(level > 1 and "\n" or "", ("#"):rep(level), " ", markdown(s), "\n\n")
    return
  end
  local id = ""
  if level == 2 then
    id, self.sections = (' id="s%d"'):format(self.sections), self.sections + 1
  end
  self:put(("<h%d%s>%s</h%d>\n"):format(level, id, html(s), level))
end

function page:text(format, ...)
  local s = self:escape(format:format(...))
  self:either(s .. "\n\n", "<p>" .. s .. "</p>\n")
end

-- What is to be seen before all else.
function page:banner(s)
  self:either("**" .. markdown(s) .. "**\n\n", '<p class="banner">' .. html(s) .. "</p>\n")
end

-- Commands, line by line.
function page:commands(s)
  self:either("    " .. s:gsub("[\0-\9\11-\31]", " "):gsub("\n", "\n    ") .. "\n\n",
              "<pre>" .. html(s) .. "</pre>\n")
end

function page:list(texts)
  self:either("", "<ul>\n")
  for _, t in ipairs(texts) do
    local s = self:escape(t)
    self:either("- " .. s .. "\n", "<li>" .. s .. "</li>\n")
  end
  self:either("\n", "</ul>\n")
end

-- ---- tables ---------------------------------------------------------------------------------

function page:table(heads)
  self:either("", '<div class="wide">\n<table>\n<tr>')
  for _, h in ipairs(heads) do
    local s = self:escape(h)
    self:either("| " .. s .. " ", "<th>" .. s .. "</th>")
  end
  self:either("|\n" .. ("|---"):rep(#heads) .. "|\n", "</tr>\n")
end

function page:row() self:either("", "<tr>") end
function page:row_end() self:either("|\n", "</tr>\n") end
function page:table_end() self:either("\n", "</table>\n</div>\n") end

-- A number, a range of two, a share: it stands to the right.
local function numeric(s)
  return (s == "-" or s:find "^[-+]?%d") and not s:find "[^0-9.,+%-%[%]%% eto]"
end

-- Short texts stay on a line, long ones get room.
local function class_of(s)
  return #s > LONG and ' class="t"' or numeric(s) and ' class="n"' or ""
end

function page:cell(format, ...)
  local s = select("#", ...) > 0 and format:format(...) or format
  self:either("| " .. markdown(s) .. " ", "<td" .. class_of(s) .. ">" .. html(s) .. "</td>")
end

-- A cell that leads to the n-th title of level 2.
function page:link(section, s)
  if self.markdown then return self:cell("%s", s) end
  self:put(('<td><a href="#s%d">'):format(section), html(s), "</a></td>")
end

local KINDS = { pass = true, fail = true, undecided = true }

-- A verdict, coloured in HTML.
function page:verdict(verdict)
  local mark = KINDS[verdict] and "**" or ""
  self:either("| " .. mark .. markdown(verdict) .. mark .. " ",
    ('<td><span class="%s">%s</span></td>'):format(KINDS[verdict] and verdict or "odd", html(verdict)))
end

-- SVG as it is.
function page:drawing(svg, caption)
  self:put('<figure role="img" aria-label="', html(caption), '">\n', svg, "\n</figure>\n")
end

-- A figure's file, linked; of Markdown only.
function page:linked(file, caption) self:put("![", markdown(caption), "](", file, ")\n\n") end

return page
