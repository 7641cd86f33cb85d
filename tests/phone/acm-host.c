/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For tests/phone/channels: the USB host at the other end of the agent's gadget, in the same guest (dummy_hcd). As pid 1 it
 * leaves a child behind that waits for /dev/ttyACM0 and copies what comes from there to the console, and becomes the agent.
 */
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define PAUSE_US 20000

static void copy(int from, int to)
{
	char data[512];
	ssize_t n;

	while ((n = read(from, data, sizeof(data))) > 0) {
		for (ssize_t at = 0, written; at < n; at += written) {
			written = write(to, data + at, (size_t)(n - at));
			if (written < 0)
				return;
		}
	}
}

static void be_the_host(void)
{
	struct termios settings;
	int fd, console = open("/dev/console", O_WRONLY | O_NOCTTY);

	while ((fd = open("/dev/ttyACM0", O_RDWR | O_NOCTTY)) < 0)
		usleep(PAUSE_US);
	tcgetattr(fd, &settings);
	cfmakeraw(&settings);
	tcsetattr(fd, TCSANOW, &settings);
	copy(fd, console);
}

int main(void)
{
	char *argv[] = { "/agent", NULL };

	mkdir("/dev", 0755);
	mount("none", "/dev", "devtmpfs", 0, NULL);
	if (!fork()) {
		be_the_host();
		_exit(0);
	}
	execv("/agent", argv);
	return 1;
}
