# SPDX-License-Identifier: GPL-3.0-or-later
# Expected values of the statistics room, by R (base packages alone). Made with:
#   cd tests/data/stats && Rscript oracle.R | sed "s/ *$//" > oracle.txt
# The unit tests read oracle.txt and the same data files; R is not needed for them.
say <- function(name, value) cat(name, format(value, digits = 15, scientific = TRUE), "\n")
read <- function(name) scan(paste0(name, ".txt"), quiet = TRUE)
cat("#", R.version.string, "\n")

report <- function(name, t) {
  say(paste0(name, ".log_ratio"), if (length(t$estimate) == 2) t$estimate[[1]] - t$estimate[[2]] else t$estimate[[1]])
  say(paste0(name, ".se"), t$stderr)
  say(paste0(name, ".df"), t$parameter[[1]])
  say(paste0(name, ".p"), t$p.value)
  say(paste0(name, ".lo"), expm1(t$conf.int[1]))
  say(paste0(name, ".hi"), expm1(t$conf.int[2]))
}
base <- read("base"); disabled <- read("disabled"); few <- read("few"); three <- read("three")
steps <- lapply(1:4, function(i) read(paste0("step", i)))

# Welch: equal and unequal numbers of boots
report("welch.disabled", t.test(log(disabled), log(base)))
report("welch.few", t.test(log(few), log(base)))
report("welch.three", t.test(log(three), log(base[1:3])))
report("welch.two", t.test(log(three[1:2]), log(base[1:2])))
report("paired.disabled", t.test(log(disabled), log(base), paired = TRUE))
report("paired.three", t.test(log(three), log(base[1:3]), paired = TRUE))

# One-sided bounds, a family of four together
say("upper.disabled", expm1(t.test(log(disabled), log(base), alternative = "less")$conf.int[2]))
say("lower.disabled", expm1(t.test(log(disabled), log(base), alternative = "greater")$conf.int[1]))
p <- sapply(steps, function(s) t.test(log(s), log(base))$p.value)
holm <- p.adjust(p, "holm")
for (i in 1:4) {
  say(paste0("family.p", i), p[i])
  say(paste0("family.holm", i), holm[i])
  together <- t.test(log(steps[[i]]), log(base), conf.level = 1 - 0.05 / 4)$conf.int
  say(paste0("family.lo", i), expm1(together[1]))
  say(paste0("family.hi", i), expm1(together[2]))
}

# Holm where the order decides and a smaller p drags a larger one along
fixed <- c(0.030, 0.011, 0.0249, 0.012, 0.9)
for (i in 1:5) say(paste0("fixed.holm", i), p.adjust(fixed, "holm")[i])

# Detectable effect and boots, from the Welch comparison above
t <- t.test(log(disabled), log(base))
mde <- (qt(0.975, t$parameter[[1]]) + qt(0.8, t$parameter[[1]])) * t$stderr
say("detectable.disabled", expm1(mde))
say("needed.disabled", ceiling(12 * (mde / log1p(0.004))^2))

# Stein: spread of the first 8 differences, mean of all 12
d <- log(disabled) - log(base)
se <- sd(d[1:8]) / sqrt(12)
say("stein.se", se)
say("stein.p", 2 * pt(-abs(mean(d) / se), 7))
say("stein.hi", expm1(mean(d) + qt(0.975, 7) * se))
say("stein.size", max(8, ceiling((sd(d[1:8]) * qt(0.975, 7) / 0.002)^2)))

# A ratio of two ratios: variances add, Satterthwaite's df
a <- t.test(log(few), log(base)); b <- t.test(log(steps[[1]]), log(steps[[2]]))
v <- c(a$stderr, b$stderr)^2; df <- sum(v)^2 / sum(v^2 / c(a$parameter[[1]], b$parameter[[1]]))
ratio <- (a$estimate[[1]] - a$estimate[[2]]) - (b$estimate[[1]] - b$estimate[[2]])
say("quotient.log_ratio", ratio)
say("quotient.df", df)
say("quotient.p", 2 * pt(-abs(ratio) / sqrt(sum(v)), df))

# Published figures: seeds.md section 3, system time of a kernel build, 10 runs each
m <- c(10809.46, 9621.26); s <- c(80.8, 34.6); n <- c(10, 10)
lv <- log(1 + (s / m)^2); lm <- log(m) - lv / 2; v <- lv / n
df <- sum(v)^2 / sum(v^2 / (n - 1))
say("summary.log_ratio", lm[2] - lm[1])
say("summary.df", df)
say("summary.lo", expm1(lm[2] - lm[1] - qt(0.975, df) * sqrt(sum(v))))
say("summary.p", 2 * pt(-abs(lm[2] - lm[1]) / sqrt(sum(v)), df))

# Levels and variance components: one row of 8 boots, 10 iterations each
say("level.mean", mean(base)); say("level.sd", sd(base)); say("level.median", median(base))
say("level.harmonic", 1 / mean(1 / base))
nested <- data.frame(y = read("nested"), boot = factor(rep(1:8, each = 10)))
ms <- summary(aov(y ~ boot, nested))[[1]][["Mean Sq"]]
within <- ms[2]; between <- (ms[1] - ms[2]) / 10
say("components.sd_within", sqrt(within) / mean(nested$y))
say("components.sd_between", sqrt(between) / mean(nested$y))
say("components.icc", between / (within + between))
say("components.best", ceiling(sqrt(60 * within / between)))

# Drift: Kendall's test against time, and the median of all slopes
slopes <- function(y) { i <- combn(length(y), 2); (y[i[2, ]] - y[i[1, ]]) / (i[2, ] - i[1, ]) }
for (name in c("drift", "ties", "base")) {
  y <- read(name)
  say(paste0("trend.", name, ".p"), cor.test(seq_along(y), y, method = "kendall", exact = FALSE, continuity = TRUE)$p.value)
  say(paste0("trend.", name, ".slope"), median(slopes(y)) / median(y))
}

# Dependence
for (name in c("dependent", "drift", "few12")) {
  y <- if (name == "few12") base else read(name)
  lags <- min(10, length(y) %/% 5)
  say(paste0("dependence.", name, ".r1"), acf(y, plot = FALSE)$acf[2])
  say(paste0("dependence.", name, ".p"), Box.test(y, lag = lags, type = "Ljung-Box")$p.value)
}

# One step: place and size; p by 100000 other permutations, so known to 3 digits
y <- read("step"); range_of <- function(y) { s <- c(0, cumsum(y - mean(y))); max(s) - min(s) }
s <- cumsum(y - mean(y)); at <- which.max(abs(s))
say("step.at", at)
say("step.shift", mean(y[-(1:at)]) / mean(y[1:at]) - 1)
set.seed(1)
permuted <- function(y) (1 + sum(replicate(1e5, range_of(sample(y)) >= range_of(y)))) / (1e5 + 1)
say("step.step.p", permuted(y))
say("step.base.p", permuted(base))

# Two modes with one spread, by direct maximisation
y <- read("modes")
ll <- function(q) -sum(log((1 - plogis(q[4])) * dnorm(y, q[1], exp(q[3])) + plogis(q[4]) * dnorm(y, q[2], exp(q[3]))))
fit <- optim(c(1990, 2090, log(15), -0.5), ll, method = "BFGS", control = list(reltol = 1e-15, maxit = 10000))
say("modes.low", fit$par[1]); say("modes.high", fit$par[2]); say("modes.share_high", plogis(fit$par[4]))

# Listed outliers (R rounds 1.4826): places from 0
listed <- function(y) which(abs(y - median(y)) > 3.5 * mad(y)) - 1
y <- c(base, 2300, NA, 1500); say("outliers.count", length(listed(y[!is.na(y)])))
