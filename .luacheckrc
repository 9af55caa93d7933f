-- SPDX-License-Identifier: BSD-2-Clause
-- The words of the graph language, for luacheck over graphs/.
std = "lua54"
