/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A board's console: a serial terminal of this machine, or the socket of whatever carries one. */
#ifndef DEVICE_TERMINAL_H
#define DEVICE_TERMINAL_H

#include "base/proc.h"

/*
 * Opens `console` for reading: the path of a terminal (set to raw mode and `baud` bits a second, and emptied of what it had kept), or unix:PATH, a
 * stream socket. Until `deadline_ms` it may still be missing: a machine that is just switched on, a USB device that is just found. Nothing is ever
 * written to it, since a key stops a bootloader. ERROR_LAB, ERROR_INTERRUPTED.
 */
struct error *terminal_open(const char *console, unsigned baud, int64_t deadline_ms, struct guard guard, int *fd_out) MUST_CHECK;

#endif
