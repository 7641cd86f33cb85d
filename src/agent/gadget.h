/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A USB serial gadget (CDC ACM) through configfs: the device's side is /dev/ttyGS0, the host's /dev/ttyACM*. */
#ifndef AGENT_GADGET_H
#define AGENT_GADGET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes the gadget below `configfs` ("/sys/kernel/config" on a machine; functions, strings and one configuration) and binds it
 * to the first device controller of /sys/class/udc, for which it waits up to `wait_ms`. `serial` is the serial number that the
 * host sees. `udc_out` gets the controller's name. False with a one-line reason.
 */
bool gadget_start(const char *root, const char *configfs, const char *serial, unsigned wait_ms, char *udc_out, size_t udc_size,
		  char *reason, size_t reason_size);
/* What the bootloader calls this device (androidboot.serialno on the command line or in bootconfig), or "memcg-ab". */
void gadget_serial(const char *root, char *serial_out, size_t size);

#endif
