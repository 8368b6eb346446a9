// Whether a quantity grows with time: the line of least squares through its samples, with the confidence of its slope.

/** `x` in hours. */
export type Sample = { readonly hours: number; readonly value: number };

/** Change of the quantity in an hour; with 95 % confidence between `low` and `high`. */
export type Slope = { readonly mean: number; readonly perHour: number; readonly low: number; readonly high: number };

/**
 * Samples in a row tell less than their number: what a collector, a cache or a rotation does lasts for many of them. In the two hours of the soak
 * a block is about as long as from one rotation to the next.
 */
const blockCount = 9;
/** Two-sided 95 % of Student's t distribution with seven degrees of freedom: nine blocks, less the two that a line takes. */
const deviations = 2.365;

/** The slope of means of neighbouring samples. Throws for fewer than four samples in each of them. */
export function slopeOf(samples: readonly Sample[]): Slope {
  const samplesOfBlock = Math.floor(samples.length / blockCount);
  if (samplesOfBlock < 4) throw new Error(`${samples.length} samples are too few for a slope`);
  const blocks = Array.from({ length: blockCount }, (_, index) => {
    const block = samples.slice(index * samplesOfBlock, (index + 1) * samplesOfBlock);
    return { hours: meanOf(block.map(({ hours }) => hours)), value: meanOf(block.map(({ value }) => value)) };
  });
  const [hours, mean] = [meanOf(blocks.map((one) => one.hours)), meanOf(blocks.map((one) => one.value))];
  const spread = sumOf(blocks.map((one) => (one.hours - hours) ** 2));
  const perHour = sumOf(blocks.map((one) => (one.hours - hours) * (one.value - mean))) / spread;
  const rest = sumOf(blocks.map((one) => (one.value - mean - perHour * (one.hours - hours)) ** 2));
  const error = deviations * Math.sqrt(rest / (blockCount - 2) / spread);
  return { mean, perHour, low: perHour - error, high: perHour + error };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}
