/* SPDX-License-Identifier: GPL-3.0-or-later */
int first(int x);

int first(int x)
{
#ifdef CONFIG_MEMCG
	return x * 3 + 1;
#else
	return x * 3;
#endif
}
