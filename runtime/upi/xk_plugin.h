/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_plugin.h - what a shared object says of itself that brings protocols or drivers.
 *
 *	static const struct xk_proto rot13 = { .abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "rot13", ... };
 *	XK_PLUGIN(&rot13);
 *
 * once, at the end of one file.  A plug-in works with every program of the same XK_ABI that was
 * built with the same options; any other refuses it with a sentence that says what to do, before
 * it reads anything else.  It is loaded before graph files are read and stays until the program
 * ends; what it brings is then used as if it were of the build (runtime/compose/xk_plugins.h).
 */
#ifndef XK_PLUGIN_H
#define XK_PLUGIN_H

#include "runtime/upi/xk_proto.h"

/* Options of configure that change what the headers' functions are compiled to. */
#ifdef XK_DEBUG
#define XK_BUILD_DEBUG " --enable-debug"
#else
#define XK_BUILD_DEBUG ""
#endif
#ifdef XK_COUNT_ATOMICS
#define XK_BUILD_ATOMICS " --enable-count-atomics"
#else
#define XK_BUILD_ATOMICS ""
#endif
#ifdef XK_STRESS
#define XK_BUILD_STRESS " --enable-stress"
#else
#define XK_BUILD_STRESS ""
#endif
#ifdef XK_TSAN
#define XK_BUILD_TSAN " --enable-tsan"
#else
#define XK_BUILD_TSAN ""
#endif
#if defined(__SANITIZE_ADDRESS__)
#define XK_BUILD_ASAN " --enable-asan"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XK_BUILD_ASAN " --enable-asan"
#endif
#endif
#ifndef XK_BUILD_ASAN
#define XK_BUILD_ASAN ""
#endif
#define XK_BUILD XK_BUILD_DEBUG XK_BUILD_ATOMICS XK_BUILD_STRESS XK_BUILD_TSAN XK_BUILD_ASAN

struct xk_plugin {
	uint32_t abi, size;                    /* XK_ABI, sizeof(struct xk_proto): read before all else */
	const char *build;                     /* XK_BUILD */
	const struct xk_proto *const *protos;  /* NULL last */
};

/* One descriptor or more. */
#define XK_PLUGIN(...) \
	extern const struct xk_plugin xk_plugin; \
	__attribute__((visibility("default"))) const struct xk_plugin xk_plugin = { \
		XK_ABI, sizeof(struct xk_proto), XK_BUILD, (const struct xk_proto *const[]){ __VA_ARGS__, NULL } }

#endif
