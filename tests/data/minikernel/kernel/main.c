/* SPDX-License-Identifier: GPL-3.0-or-later */
int first(int x);
int second(int x);
void start_kernel(void);

const char banner[] = "Linux version 5.99.0 (" BUILT_BY ")";
int result = 1;

void start_kernel(void)
{
	result = first(second(banner[0]));
}
