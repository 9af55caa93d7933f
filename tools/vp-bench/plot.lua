-- SPDX-License-Identifier: BSD-2-Clause
-- plot.lua: a figure as a script of gnuplot, and what gnuplot drew made fit for a page.
--
-- A figure is {title, xlabel, ylabel, xlog, ylog, tics = {{x, text}...}, lines = {...}}; a line is
-- {name, reference, ideal, points = {{x, y, lo, hi, median}...}, dots = {{x, y}...}}.  Texts go to gnuplot in
-- single quotes, where nothing is special but the quote, and without its markup.
-- Invariant: the same figure gives the same bytes.
local plot = {}

local BESIDE = 18             -- characters of a name that leave room for the figure
local LARGE = 10000           -- from here on an axis says "16.0 M", not 1.6e+07
local GREY = "#8a8a8a"

-- Told apart by lightness, too, and by their markers.
local COLOURS = {
  [0] = "#2f7ed8", "#e07b28", "#1f9e77", "#c2417c", "#8561c5", "#a8861d", "#3fa7b5", "#b5533c",
}
local MARKERS = { [0] = 7, 5, 9, 11, 13, 6, 4, 8 }

local function quoted(s) return "'" .. s:gsub("'", "''"):gsub("[\0-\31]", " ") .. "'" end

-- ---- axes -----------------------------------------------------------------------------------

local function tics(p)
  local step, longest, t = #p.tics // 16 + 1, 0, {}
  for _, tic in ipairs(p.tics) do longest = math.max(longest, #tic.text) end
  for i = 1, #p.tics, step do
    t[#t + 1] = ("%s %.9g"):format(quoted(p.tics[i].text), p.tics[i].x)
  end
  local crowded = longest * (#p.tics // step) > 90
  return ("set xtics nomirror out %s (%s)\n"):format(crowded and "rotate by -35" or "norotate",
    table.concat(t, ", "))
end

local function ranges(p)
  local lo, hi = p.tics[1].x, p.tics[#p.tics].x
  local y = p.ylog and "set logscale y\n" or "set yrange [0:*]\n"
  if p.xlog then
    return ("set logscale x 2\nset xrange [%.9g:%.9g]\n"):format(lo / 1.15, hi * 1.15) .. y
  end
  local room = hi > lo and (hi - lo) * 0.04 or 0.5
  return ("set xrange [%.9g:%.9g]\n"):format(lo - room, hi + room) .. y
end

-- ---- lines ----------------------------------------------------------------------------------

local function data(put, p)
  for i, l in ipairs(p.lines) do
    put("$d%d << EOD\n", i - 1)
    for _, q in ipairs(l.points) do
      put("%.9g %.9g %.9g %.9g ", q.x, q.y, q.lo or q.y, q.hi or q.y)
      put("%s\n", q.median and ("%.9g"):format(q.median) or "NaN")
    end
    put "EOD\n"
    if #l.dots > 0 then
      put("$r%d << EOD\n", i - 1)
      for _, d in ipairs(l.dots) do put("%.9g %.9g\n", d.x, d.y) end
      put "EOD\n"
    end
  end
end

-- Single runs as dots and their median as a cross, in the colour of their line.
local function dots(put, p)
  local ours, any = 0, false
  for i, l in ipairs(p.lines) do
    local colour = COLOURS[ours % 8]
    if not l.reference then ours = ours + 1 end
    if #l.dots > 0 then
      any = true
      put(", \\\n  $r%d using 1:2 with points lc rgb '%s' pt 7 ps 0.2 notitle", i - 1, colour)
      put(", \\\n  $d%d using 1:5 with points lc rgb '%s' pt 1 ps 0.8 notitle", i - 1, colour)
    end
  end
  if any then
    put(", \\\n  keyentry with points lc rgb '%s' pt 1 ps 0.8 title 'median'", GREY)
    put(", \\\n  keyentry with points lc rgb '%s' pt 7 ps 0.2 title 'a run'", GREY)
  end
end

local function lines(put, p)
  local ours, other = 0, 0
  put "plot "
  for i, l in ipairs(p.lines) do
    put("%s$d%d using ", i > 1 and ", \\\n  " or "", i - 1)
    if l.ideal then
      put("1:2 with lines lc rgb '%s' lw 1 dt 3", GREY)
    elseif l.reference then
      put("1:2 with linespoints lc rgb '%s' pt %d ps 0.8 lw 1.3 dt 2", GREY,
          MARKERS[(other + 5) % 8])
      other = other + 1
    else
      put("1:2:3:4 with yerrorlines lc rgb '%s' pt %d ps 0.6 lw 1.8 dt 1", COLOURS[ours % 8],
          MARKERS[ours % 8])
      ours = ours + 1
    end
    put(" title %s", quoted(l.name))
  end
  dots(put, p)
  put "\n"
end

local function highest(p)
  local most = 0
  for _, l in ipairs(p.lines) do
    for _, q in ipairs(l.points) do most = math.max(most, q.hi or q.y) end
  end
  return most
end

-- ---- the script -----------------------------------------------------------------------------

-- id: prefix of the names in it; in_page: to stand in a page and take its colours, otherwise a file
-- of its own.
function plot.script(p, id, in_page)
  local t, longest = {}, 0
  local function put(format, ...)
    t[#t + 1] = select("#", ...) > 0 and format:format(...) or format
  end
  for _, l in ipairs(p.lines) do longest = math.max(longest, #l.name) end
  local beside = longest <= BESIDE
  put("set term svg size 760,%d dynamic rounded noenhanced font 'sans-serif,13' %s name 'f_%s'\n",
      380 + (beside and 0 or 20 * ((#p.lines + 4) // 3)), in_page and "" or "background '#ffffff'",
      (id:gsub("%W", "_")))
  put "set encoding utf8\nset border 3\nset ytics nomirror out\n"
  put "set grid ytics lc rgb '#999999' lw 0.5 dt 3\n"
  if highest(p) >= LARGE then put "set format y '%.1s %c'\n" end
  -- gnuplot puts a key that lies below over the label of the axis.
  put("set key outside %s Left reverse samplen 3\nset xlabel offset 0,%s\n",
      beside and "right top" or "below left", beside and "0" or "0.8")
  for _, what in ipairs { "title", "xlabel", "ylabel" } do
    put("set %s %s\n", what, quoted(p[what]))
  end
  put("%s", tics(p))
  put("%s", ranges(p))
  data(put, p)
  lines(put, p)
  return table.concat(t)
end

-- ---- cells -----------------------------------------------------------------------------------

-- At whole numbers, ten or so of them.
local function whole_tics(axis, n)
  local step, i = 1, 0
  while n / step > 10 do
    i = i + 1
    step = ({ [0] = 1, 2, 5 })[i % 3] * 10 ^ (i // 3)
  end
  return ("set %stics nomirror out 0,%d\n"):format(axis, step)
end

-- A picture {title, xlabel, ylabel, zlabel, xstep, ystep, rows = {{number...}...}}: numbers from 0 to 1, 1 is dark; rows
-- from below, of ystep things each, columns of xstep each.  id and in_page as of a script.
function plot.cells(p, id, in_page)
  local t = {}
  local function put(format, ...)
    t[#t + 1] = select("#", ...) > 0 and format:format(...) or format
  end
  put("set term svg size 760,460 dynamic rounded noenhanced font 'sans-serif,13' %s name 'f_%s'\n",
      in_page and "" or "background '#ffffff'", (id:gsub("%W", "_")))
  put "set encoding utf8\nset border 3\nunset key\n"
  put("%s%s", whole_tics("x", #p.rows[1] * p.xstep), whole_tics("y", #p.rows * p.ystep))
  for _, what in ipairs { "title", "xlabel", "ylabel" } do put("set %s %s\n", what, quoted(p[what])) end
  put("set cblabel %s\nset cbrange [0:1]\nset palette defined (0 '#f4f6f8', 0.5 '%s', 1 '#10294a')\n", quoted(p.zlabel),
      COLOURS[0])
  put("set xrange [-0.5:%.9g]\nset yrange [-0.5:%.9g]\n$d << EOD\n", #p.rows[1] * p.xstep - 0.5, #p.rows * p.ystep - 0.5)
  for _, row in ipairs(p.rows) do
    for _, v in ipairs(row) do put("%.6g ", v) end
    put "\n"
  end
  -- "image pixels" draws nothing of one row, one column or three points.
  put("EOD\nplot $d matrix using ($1*%d+%.9g):($2*%d+%.9g):(%.9g):(%.9g):3 with boxxyerror fillstyle solid noborder " ..
      "fillcolor palette\n", p.xstep, (p.xstep - 1) / 2, p.ystep, (p.ystep - 1) / 2, p.xstep / 2, p.ystep / 2)
  return table.concat(t)
end

-- SVG of a figure for a page of many: names get the figure's own prefix, black becomes the colour
-- of the page, and groups without anything in them go.
function plot.fit(svg, id)
  svg = svg:gsub("<g [^\n]*\n</g>\n", ""):gsub("<%?xml[^\n]*\n", ""):gsub("\n<desc>[^\n]*", "")
    :gsub("\n<title>[^\n]*", ""):gsub("\n\n+", "\n")
  svg = svg:gsub("(['#])gp([PD])", "%1" .. id .. "%2"):gsub("'textbox'", "'" .. id .. "box'")
    :gsub("'greybox'", "'" .. id .. "grey'"):gsub('"gnuplot_canvas"', '"' .. id .. 'canvas"')
  svg = svg:gsub(' color="black"', ' color="inherit"')
  return (svg:gsub(" (%l+)=(['\"])black%2", function(name, quote)
    if name ~= "fill" and name ~= "stroke" then return nil end
    return (" %s=%scurrentColor%s"):format(name, quote, quote)
  end))
end

return plot
