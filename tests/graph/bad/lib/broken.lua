-- SPDX-License-Identifier: BSD-2-Clause
local x = = 5
