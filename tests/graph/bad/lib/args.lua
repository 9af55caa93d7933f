-- SPDX-License-Identifier: BSD-2-Clause
return args { vps = uint { 4 } }
