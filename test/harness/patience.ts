// How long a test waits for what has to come, against a hang and not as a measure of speed. The drills wait longer: for hours something else
// may take the machine, and what they find has to be a fault of the appliance.

/** Milliseconds. */
export const patienceMs = Number(process.env['KEYSTORED_TEST_PATIENCE_SECONDS'] ?? 120) * 1_000;
