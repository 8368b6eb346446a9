// Names of the chains of the audit trail.

/** The chain of a worker. */
export const workerChain = (number: number): `worker-${number}` => `worker-${number}`;
/** The chain of attempts to unseal. */
export const supervisorChain = 'supervisor';
