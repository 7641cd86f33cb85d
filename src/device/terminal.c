/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#define POLL_MS 50

static const char socket_prefix[] = "unix:";

static const struct {
	unsigned baud;
	speed_t speed;
} speeds[] = {
	{ 9600, B9600 },       { 19200, B19200 },     { 38400, B38400 },     { 57600, B57600 },	    { 115200, B115200 },
	{ 230400, B230400 },   { 460800, B460800 },   { 500000, B500000 },   { 576000, B576000 },   { 921600, B921600 },
	{ 1000000, B1000000 }, { 1500000, B1500000 }, { 2000000, B2000000 }, { 3000000, B3000000 }, { 4000000, B4000000 },
};

static bool find_speed(unsigned baud, speed_t *speed_out)
{
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++) {
		if (speeds[i].baud == baud) {
			*speed_out = speeds[i].speed;
			return true;
		}
	}
	return false;
}

static struct error *set_up(int fd, const char *path, unsigned baud)
{
	struct termios termios;
	speed_t speed;

	if (!find_speed(baud, &speed))
		return error_new(ERROR_LAB, "a terminal does not know %u bits a second", baud);
	if (tcgetattr(fd, &termios) < 0)
		return error_os(errno, "%s is no terminal", path);
	cfmakeraw(&termios);
	termios.c_cflag |= CLOCAL | CREAD;
	termios.c_cflag &= ~(tcflag_t)CRTSCTS;
	if (cfsetspeed(&termios, speed) < 0 || tcsetattr(fd, TCSANOW, &termios) < 0 || tcflush(fd, TCIFLUSH) < 0)
		return error_os(errno, "cannot set %s to %u bits a second", path, baud);
	return NULL;
}

/* Without waiting for a carrier, and without making it this process' own terminal. */
static struct error *open_terminal(const char *path, unsigned baud, int *fd_out)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return error_os(errno, "cannot open the console %s", path);
	struct error *error = set_up(fd, path, baud);
	if (error)
		return error;
	*fd_out = fd;
	fd = -1;
	return NULL;
}

static struct error *open_socket(const char *path, int *fd_out)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		return error_new(ERROR_LAB, "the path of the console's socket is too long (%zu bytes fit): %s",
				 sizeof(address.sun_path) - 1, path);
	strcpy(address.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return error_os(errno, "cannot open the console %s%s", socket_prefix, path);
	*fd_out = fd;
	fd = -1;
	return NULL;
}

struct error *terminal_open(const char *console, unsigned baud, int64_t deadline_ms, struct guard guard, int *fd_out)
{
	struct pollfd interruption = { .fd = guard.fd, .events = POLLIN };

	for (;;) {
		struct error *error = str_starts(console, socket_prefix) ? open_socket(console + strlen(socket_prefix), fd_out)
									 : open_terminal(console, baud, fd_out);
		if (!error || clock_ms() >= deadline_ms)
			return error;
		poll(&interruption, 1, POLL_MS);
		struct error *interrupted = guard_check(guard);
		if (interrupted) {
			error_free(error);
			return interrupted;
		}
		error_free(error);
	}
}
