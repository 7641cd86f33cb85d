/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and numbers as bootloaders write them. */
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "device/fastboot_client.h"

struct forbidden {
	const char *why;
	const char *names; /* globs with a blank between each two */
};

/* Of Qualcomm, MediaTek, Samsung, Google, Unisoc, Rockchip, Allwinner, NXP and TI devices, and of Android itself. */
static const struct forbidden table[] = {
	{ "it holds a bootloader: without it the device does not start any more",
	  "bootloader* aboot abl* xbl* sbl* rpm tz* hyp* devcfg* aop* cpucp* shrm* uefi* imagefv* qupfw* featenabler* multiimg* "
	  "cmnlib* "
	  "preloader* lk lk[0-9] lk_* sspm* spmfw* mcupm* scp* gz gz[0-9] dpm* pi_img* pbl* bl[0-9]* fip* spl* u-boot* uboot* "
	  "tiboot* tispl* "
	  "sboot* sys_bootloader* xloader* ldfw* gsa* fastboot* idbloader* trust* sml* splloader* mmc[0-9]boot[0-9] "
	  "ufs* sec_* cm" },
	{ "it holds a radio's firmware or its calibration, which exist once",
	  "modem* radio* fsg* fsc md[0-9]* mdm* efs* nvram nvdata* nvcfg nv_* l_*nv* w_*nv* bluetooth* dsp* wcnss* persist* "
	  "proinfo cpefs* "
	  "protect[0-9f]* cust_nv*" },
	{ "it holds keys, or what the lock and the factory reset protection know",
	  "keymaster* keystore* keystorage* keydata* keyrefuge* tee* tzsw* secdata* ssd seccfg sec[0-9] frp storsec* devinfo* "
	  "otp* rpmb* "
	  "km* teeos* vbmeta_private" },
	{ "it holds the partition table", "gpt* pgpt* sgpt* *_gpt mbr* ebr* partition partition[:0-9]* pit pmt" },
	{ "it holds the user's data", "userdata* data metadata* sdcard external* cache" },
	{ "it holds all logical partitions at once", "super super_* system_other" },
	{ "it holds orders to the bootloader and to recovery, an order to wipe among them", "misc para bcb param* up_param" },
};

/* As an option, a path or an address it would say something else than a name. */
static bool is_name(const char *partition)
{
	if (!isalnum((unsigned char)partition[0]))
		return false;
	for (const char *c = partition; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_-.:", *c))
			return false;
	return true;
}

static bool matches(const char *globs, const char *name)
{
	AUTO_FREE char *copy = xstrdup(globs);
	char *rest = copy, *glob;

	while ((glob = strsep(&rest, " ")))
		if (*glob && !fnmatch(glob, name, FNM_CASEFOLD))
			return true;
	return false;
}

static char *without_slot(const char *partition)
{
	size_t len = strlen(partition);
	bool slotted = len > 2 && partition[len - 2] == '_' && strchr("abAB", partition[len - 1]);

	return xstrndup(partition, slotted ? len - 2 : len);
}

const char *fastboot_forbidden(const char *partition)
{
	AUTO_FREE char *base = without_slot(partition);

	if (!is_name(partition))
		return "it is no partition's name";
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (matches(table[i].names, partition) || matches(table[i].names, base))
			return table[i].why;
	return NULL;
}

bool fastboot_parse_size(const char *text, bool hex_bare, uint64_t *bytes_out)
{
	AUTO_FREE char *copy = xstrdup(text);
	const char *digits = str_trim(copy);
	bool marked = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	uint64_t bytes = 0;

	if (marked)
		digits += 2;
	/* Letters, and zeros in front, are hexadecimal whatever is expected. */
	bool hex = marked || hex_bare || strpbrk(digits, "abcdefABCDEF") || (digits[0] == '0' && digits[1]);
	const uint64_t base = hex ? 16 : 10;
	if (!*digits)
		return false;
	for (const char *c = digits; *c; c++) {
		uint64_t digit;
		if (isdigit((unsigned char)*c))
			digit = (uint64_t)(*c - '0');
		else if (isxdigit((unsigned char)*c))
			digit = (uint64_t)(tolower((unsigned char)*c) - 'a' + 10);
		else
			return false;
		if (bytes > (UINT64_MAX - digit) / base)
			return false;
		bytes = bytes * base + digit;
	}
	*bytes_out = bytes;
	return true;
}

char fastboot_parse_slot(const char *text)
{
	AUTO_FREE char *copy = xstrdup(text);
	const char *slot = str_trim(copy);

	if (*slot == '_')
		slot++;
	if (!*slot || slot[1] || !strchr("abAB", *slot))
		return 0;
	return (char)tolower((unsigned char)*slot);
}
