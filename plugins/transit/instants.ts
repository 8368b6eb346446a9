// Instants in stored records: whole microseconds since 1970, exact until the year 2255.

/** Microseconds of an instant, rounded down. */
export function microseconds(instant: Temporal.Instant): number {
  return instant.epochMilliseconds * 1000 + ((Number(instant.epochNanoseconds % 1_000_000n) / 1000) | 0);
}

/** The instant of microseconds since 1970. */
export function instantOf(micros: number): Temporal.Instant {
  return Temporal.Instant.fromEpochNanoseconds(BigInt(micros) * 1000n);
}

/** Microseconds of seconds. */
export function microsecondsOf(seconds: number): number {
  return seconds * 1_000_000;
}
