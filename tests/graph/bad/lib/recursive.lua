-- SPDX-License-Identifier: BSD-2-Clause
return include "lib/recursive.lua"
