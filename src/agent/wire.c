/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/wire.h"

#include <string.h>

#define LINE_ROOM (WIRE_LINE_MAX - 1) /* without the NUL */
#define CRC_ROOM 10 /* " 01234567\n" */
#define MAX_FIELDS 8

static const char empty_value[] = "%00";

uint32_t wire_crc32(const void *data, size_t len)
{
	const unsigned char *bytes = data;
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* A line being written; `full` once something did not fit. */
struct writer {
	char *data;
	size_t len;
	bool full;
};

static void put_char(struct writer *writer, char c)
{
	if (writer->len >= LINE_ROOM - CRC_ROOM)
		writer->full = true;
	else
		writer->data[writer->len++] = c;
}

static void put_text(struct writer *writer, const char *text)
{
	for (; *text; text++)
		put_char(writer, *text);
}

static bool is_plain(unsigned char c)
{
	return c > ' ' && c < 0x7f && c != '%';
}

static void put_value(struct writer *writer, const char *value)
{
	static const char digits[] = "0123456789ABCDEF";

	put_char(writer, ' ');
	if (!*value)
		put_text(writer, empty_value);
	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;

		if (is_plain(c)) {
			put_char(writer, (char)c);
		} else {
			put_char(writer, '%');
			put_char(writer, digits[c >> 4]);
			put_char(writer, digits[c & 15]);
		}
	}
}

static void put_number(struct writer *writer, uint32_t number)
{
	char text[11];
	size_t at = sizeof(text);

	text[--at] = '\0';
	do {
		text[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	put_char(writer, ' ');
	put_text(writer, text + at);
}

static bool is_decimal(const char *text)
{
	size_t whole, part;

	if (*text == '-')
		text++;
	whole = strspn(text, "0123456789");
	text += whole;
	if (!*text)
		return whole > 0;
	if (*text++ != '.')
		return false;
	part = strspn(text, "0123456789");
	return whole > 0 && part > 0 && !text[part];
}

size_t wire_format(const struct wire_record *record, char line[WIRE_LINE_MAX])
{
	char text[WIRE_LINE_MAX];
	struct writer writer = { text, 0, false };

	put_text(&writer, WIRE_PREFIX);
	switch (record->type) {
	case WIRE_HELLO:
		put_text(&writer, "HELLO");
		put_value(&writer, record->name);
		put_value(&writer, record->value);
		break;
	case WIRE_IDENTITY:
		put_text(&writer, "IDENTITY");
		put_value(&writer, record->name);
		put_value(&writer, record->value);
		break;
	case WIRE_RESULT:
		if (record->pass && !is_decimal(record->value))
			return 0;
		put_text(&writer, "RESULT");
		put_value(&writer, record->name);
		put_text(&writer, record->pass ? " pass" : " fail");
		put_value(&writer, record->value);
		put_value(&writer, record->unit);
		break;
	case WIRE_END:
		put_text(&writer, "END");
		break;
	}
	put_number(&writer, record->seq);
	if (writer.full)
		return 0;

	uint32_t crc = wire_crc32(text, writer.len);

	text[writer.len++] = ' ';
	for (int shift = 28; shift >= 0; shift -= 4)
		text[writer.len++] = "0123456789abcdef"[crc >> shift & 15];
	text[writer.len++] = '\n';
	text[writer.len] = '\0';
	memcpy(line, text, writer.len + 1);
	return writer.len;
}

static int hex_digit(char c, const char *digits)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* One field of a line, not NUL terminated. */
struct field {
	const char *text;
	size_t len;
};

static bool field_is(struct field field, const char *text)
{
	return field.len == strlen(text) && !memcmp(field.text, text, field.len);
}

static bool get_value(struct field field, char *value, size_t size)
{
	size_t len = 0;

	if (field_is(field, empty_value)) {
		value[0] = '\0';
		return true;
	}
	for (size_t i = 0; i < field.len; i++) {
		int c = (unsigned char)field.text[i];

		if (c == '%') {
			if (field.len - i < 3)
				return false;
			int high = hex_digit(field.text[i + 1], "0123456789ABCDEF");
			int low = hex_digit(field.text[i + 2], "0123456789ABCDEF");

			if (high < 0 || low < 0)
				return false;
			c = high << 4 | low;
			if (!c || is_plain((unsigned char)c))
				return false;
			i += 2;
		} else if (!is_plain((unsigned char)c)) {
			return false;
		}
		if (len + 1 >= size)
			return false;
		value[len++] = (char)c;
	}
	value[len] = '\0';
	return true;
}

static bool get_number(struct field field, uint32_t *number)
{
	uint64_t value = 0;

	if (field.len > 10 || (field.len > 1 && field.text[0] == '0'))
		return false;
	for (size_t i = 0; i < field.len; i++) {
		if (field.text[i] < '0' || field.text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(field.text[i] - '0');
	}
	*number = (uint32_t)value;
	return value <= UINT32_MAX;
}

/* Cuts at single blanks; the number of fields, or 0 when one is empty or there are too many. */
static size_t cut_fields(const char *text, size_t len, struct field fields[MAX_FIELDS])
{
	size_t n = 0;

	for (;;) {
		const char *blank = memchr(text, ' ', len);
		size_t field_len = blank ? (size_t)(blank - text) : len;

		if (!field_len || n == MAX_FIELDS)
			return 0;
		fields[n++] = (struct field){ text, field_len };
		if (!blank)
			return n;
		text += field_len + 1;
		len -= field_len + 1;
	}
}

static bool get_result(const struct field *fields, struct wire_record *record)
{
	record->type = WIRE_RESULT;
	record->pass = field_is(fields[1], "pass");
	if (!record->pass && !field_is(fields[1], "fail"))
		return false;
	return get_value(fields[0], record->name, sizeof(record->name)) &&
	       get_value(fields[2], record->value, sizeof(record->value)) && (!record->pass || is_decimal(record->value)) &&
	       get_value(fields[3], record->unit, sizeof(record->unit)) && get_number(fields[4], &record->seq);
}

static bool get_pair(enum wire_type type, const struct field *fields, struct wire_record *record)
{
	record->type = type;
	return get_value(fields[0], record->name, sizeof(record->name)) &&
	       get_value(fields[1], record->value, sizeof(record->value)) && get_number(fields[2], &record->seq);
}

static bool get_record(const struct field *fields, size_t n, struct wire_record *record)
{
	if (field_is(fields[0], "HELLO"))
		return n == 4 && get_pair(WIRE_HELLO, fields + 1, record);
	if (field_is(fields[0], "IDENTITY"))
		return n == 4 && get_pair(WIRE_IDENTITY, fields + 1, record);
	if (field_is(fields[0], "RESULT"))
		return n == 6 && get_result(fields + 1, record);
	record->type = WIRE_END;
	return field_is(fields[0], "END") && n == 2 && get_number(fields[1], &record->seq);
}

/* `text` starts with the prefix. */
static bool parse_at(const char *text, size_t len, struct wire_record *record_out)
{
	const size_t prefix_len = sizeof(WIRE_PREFIX) - 1;
	const size_t crc_len = CRC_ROOM - 1; /* no newline here */
	struct field fields[MAX_FIELDS];
	struct wire_record record = { 0 };
	uint32_t crc = 0;

	if (len < prefix_len + crc_len || len > LINE_ROOM - 1)
		return false;

	size_t body_len = len - crc_len;

	if (text[body_len] != ' ')
		return false;
	for (size_t i = body_len + 1; i < len; i++) {
		int digit = hex_digit(text[i], "0123456789abcdef");

		if (digit < 0)
			return false;
		crc = crc << 4 | (uint32_t)digit;
	}
	if (crc != wire_crc32(text, body_len))
		return false;

	size_t n = cut_fields(text + prefix_len, body_len - prefix_len, fields);

	if (!n || !get_record(fields, n, &record))
		return false;
	*record_out = record;
	return true;
}

bool wire_parse(const char *line, size_t len, struct wire_record *record_out)
{
	const size_t prefix_len = sizeof(WIRE_PREFIX) - 1;

	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	for (size_t at = 0; at + prefix_len <= len; at++) {
		if (!memcmp(line + at, WIRE_PREFIX, prefix_len) && parse_at(line + at, len - at, record_out))
			return true;
	}
	return false;
}
