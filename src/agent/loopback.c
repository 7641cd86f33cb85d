/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/loopback.h"

#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOSTS "/etc/hosts"

static const char hosts_text[] = "127.0.0.1 localhost\n::1 localhost\n";

static void raise_interface(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (!ioctl(fd, SIOCGIFFLAGS, &request) && !(request.ifr_flags & IFF_UP)) {
		request.ifr_flags |= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &request);
	}
	close(fd);
}

static void name_localhost(void)
{
	mkdir("/etc", 0755);

	int fd = open(HOSTS, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return;
	if (write(fd, hosts_text, strlen(hosts_text)) != (ssize_t)strlen(hosts_text))
		unlink(HOSTS);
	close(fd);
}

void loopback_up(void)
{
	if (getpid() != 1)
		return;
	raise_interface();
	name_localhost();
}
