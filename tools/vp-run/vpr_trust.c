/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_trust.c - what this process may still do when a graph is up: as another user, and for a file that is not trusted
 * no more than it has opened.
 *
 * Devices and files are open by then, workers are not there yet.  --user gives all rights of this one away (a process
 * that has begun as root keeps no capability).  --untrusted forbids, where the kernel can (Landlock, seccomp), to make,
 * write, cut or remove files, but for the control socket; to read others than the system's and those that arguments
 * name; to change rights and times of files, to start programs, trace processes, change mounts and modules.  What the
 * kernel cannot is told.
 * Invariant: what is forbidden stays so for this process and for all that it starts.
 */
#include "tools/vp-run/vpr.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <pwd.h>
#ifdef XK_HAVE_SECCOMP
#include <seccomp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/xk_errs.h"
#include "tools/control/ctl.h"

/* ---- another user ------------------------------------------------------------------------- */

static int fault(struct xk_errs *e, const char *option, const char *what)
{
	xk_errs_add(e, NULL, 0, 0, "option %s: %s: %s", option, what, strerror(errno));
	return VPR_FAILED;
}

/* What is removed or written in the end is in a folder where the new user may. */
static int may_still(const char *path, const struct passwd *u, struct xk_errs *e)
{
	char *dir = vpr_folder(path);
	bool may = false;

	if (dir != NULL && setegid(u->pw_gid) == 0 && seteuid(u->pw_uid) == 0)
		may = faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0;
	if (!may)
		xk_errs_add(e, NULL, 0, 0, "option --user: %s may not write in %s, where %s is", u->pw_name,
			    dir != NULL ? dir : "the folder", path);
	free(dir);
	if (seteuid(getuid()) != 0 || setegid(getgid()) != 0)
		return fault(e, "--user", u->pw_name);
	return may ? VPR_OK : VPR_USAGE;
}

static int give_control(const char *path, const struct passwd *u, struct xk_errs *e)
{
	char lock[CTL_PATH_MAX + 8];

	snprintf(lock, sizeof lock, "%s.lock", path);
	if (lchown(path, u->pw_uid, u->pw_gid) != 0 || lchown(lock, u->pw_uid, u->pw_gid) != 0)
		return fault(e, "--user", path);
	return VPR_OK;
}

static int no_right(const struct vpr *o, struct xk_errs *e)
{
	int err = errno;

	(void)fault(e, "--user", o->user);
	return err == EPERM ? VPR_NO_PRIVILEGE : VPR_FAILED;
}

static int become(const struct vpr *o, const char *control, struct xk_errs *e)
{
	const struct passwd *u = getpwnam(o->user);
	int code = VPR_OK;

	if (u == NULL) {
		xk_errs_add(e, NULL, 0, 0, "option --user: there is no user '%s'", o->user);
		return VPR_USAGE;
	}
	if (setgroups(0, NULL) != 0)
		code = no_right(o, e);
	if (code == VPR_OK && o->heat != NULL)
		code = may_still(o->heat, u, e);
	if (code == VPR_OK && control != NULL)
		code = may_still(control, u, e);
	if (code == VPR_OK && control != NULL)
		code = give_control(control, u, e);
	if (code != VPR_OK)
		return code;
	if (setresgid(u->pw_gid, u->pw_gid, u->pw_gid) != 0 ||
	    setresuid(u->pw_uid, u->pw_uid, u->pw_uid) != 0)
		return no_right(o, e);
	return VPR_OK;
}

/* ---- files ---------------------------------------------------------------------------------- */

#define FS_READ  (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
/* Of the first version, which all kernels with Landlock have; to cut a file is of the third. */
#define FS_ALL   ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define FS_CUT   (1ull << 14)

static void allow(int rules, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr at = { .allowed_access = access, .parent_fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;

	if (at.parent_fd < 0)
		return;
	if (fstat(at.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
		at.allowed_access &= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
	(void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &at, 0);
	close(at.parent_fd);
}

/* The socket and its lock go in the end. */
static void allow_end_of(int rules, const char *control)
{
	char *dir = vpr_folder(control);

	if (dir != NULL)
		allow(rules, dir, LANDLOCK_ACCESS_FS_REMOVE_FILE);
	free(dir);
}

static void allow_all(int rules, const struct vpr *o, const char *control)
{
	static const char *const system_paths[] = { "/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/run/netns" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(system_paths); i++)
		allow(rules, system_paths[i], FS_READ);
	for (unsigned i = 0; i < o->narg; i++)
		allow(rules, strchr(o->arg[i], '=') + 1, FS_READ);
	if (*o->untrusted != '\0')       /* a device that comes back is opened again */
		allow(rules, "/dev/net/tun", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
	if (control != NULL)
		allow_end_of(rules, control);
}

/* False: errno says why. */
static bool forbid_files(const struct vpr *o, const char *control)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_ruleset_attr a = { .handled_access_fs = FS_ALL | (version >= 3 ? FS_CUT : 0) };
	int rules = version > 0 ? (int)syscall(SYS_landlock_create_ruleset, &a, sizeof a, 0) : -1;
	bool done;

	if (rules < 0)
		return false;
	allow_all(rules, o, control);
	done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
	close(rules);
	return done;
}

/* ---- system calls ---------------------------------------------------------------------------- */

#ifdef XK_HAVE_SECCOMP
static bool forbid_calls(void)
{
	static const int calls[] = {
		SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
		SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(init_module),
		SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(reboot),
		SCMP_SYS(open_by_handle_at), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(add_key),
		SCMP_SYS(keyctl), SCMP_SYS(request_key), SCMP_SYS(acct), SCMP_SYS(swapon), SCMP_SYS(swapoff),
		SCMP_SYS(truncate), SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(chown), SCMP_SYS(lchown),
		SCMP_SYS(fchown), SCMP_SYS(fchownat), SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr),
		SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), SCMP_SYS(utime), SCMP_SYS(utimes),
		SCMP_SYS(utimensat), SCMP_SYS(futimesat),
	};
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int err = f != NULL ? seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;

	for (unsigned i = 0; i < XK_ARRAY_LEN(calls) && err == 0; i++)
		err = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
	if (err == 0)
		err = seccomp_load(f);
	if (f != NULL)
		seccomp_release(f);
	errno = -err;
	return err == 0;
}
#else
static bool forbid_calls(void)
{
	errno = EOPNOTSUPP;
	return false;
}
#endif

int vpr_confine(const struct vpr *o, const char *control, struct xk_errs *e)
{
	int code = o->user != NULL ? become(o, control, e) : VPR_OK;

	if (code != VPR_OK || o->untrusted == NULL)
		return code;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return fault(e, "--untrusted", "no_new_privs");
	if (!forbid_files(o, control))
		fprintf(stderr, "vp-run: warning: --untrusted: this kernel does not guard files (Landlock: %s)\n", strerror(errno));
	if (!forbid_calls())
		fprintf(stderr, "vp-run: warning: --untrusted: system calls are not guarded (seccomp: %s)\n", strerror(errno));
	return VPR_OK;
}
