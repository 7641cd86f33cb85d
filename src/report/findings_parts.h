/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Within findings: what each file looks for. */
#ifndef REPORT_FINDINGS_PARTS_H
#define REPORT_FINDINGS_PARTS_H

#include "report/floor.h"

/* A target's metric under test. */
struct subject {
	struct report *report;
	const struct evidence *evidence;
	const struct report_floor *floor;
	size_t index; /* the metric's place in the workloads' tables */
	size_t n_subjects; /* of the target */
};

/* `text` is taken over. */
void finding_add(struct report *report, enum finding_kind kind, size_t target, const char *metric, bool invalid, char *text);
bool order_is_sequential(const struct report *report);

/* findings_controls.c: A/A and layout. */
void find_controls(const struct subject *subject);
/* findings_time.c: over blocks, and within boots. */
void find_drift(const struct subject *subject);
void find_step(const struct subject *subject);
void find_unsteady(const struct subject *subject);
void find_dependence(const struct subject *subject);
/* findings_shape.c: of the boot means; medians and the other mean look at all metrics of a target. */
void find_modes(const struct subject *subject);
void find_outliers(const struct subject *subject);
void find_medians(struct report *report, size_t target);
void find_means(struct report *report, size_t target);
/* findings_sign.c: instructions against time. */
void find_signs(struct report *report, size_t target);
/* findings_device.c: what the device did not do as it was told, and whether anybody has seen it work. */
void find_environment(struct report *report, const struct evidence *evidence, size_t target);
void find_unverified(struct report *report, size_t target);
/* selftests.c */
void find_selftests(struct report *report, size_t target);

#endif
