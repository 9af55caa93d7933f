/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec_static.c - a program that is linked statically, so that nothing of its C library can be replaced: what an HTTP
 * server sends for a path, on stdout.
 *
 * usage: exec_static HOST PORT PATH
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = { .sin_family = AF_INET };
	char buf[65536];
	ssize_t n;

	if (argc != 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons((uint16_t)atoi(argv[2]));
	if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
		perror("connect");
		return 1;
	}
	if (dprintf(fd, "GET %s HTTP/1.0\r\n\r\n", argv[3]) < 0 || shutdown(fd, SHUT_WR) < 0)
		return 1;
	while ((n = read(fd, buf, sizeof buf)) > 0)
		if (fwrite(buf, 1, (size_t)n, stdout) != (size_t)n)
			return 1;
	return n != 0;
}
