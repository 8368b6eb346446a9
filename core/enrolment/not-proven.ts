// The reason of a refused certification request that enrolment protocols answer in their own words.

/** Cause of an `invalid-csr`: the sender has not proved that it holds the key of the request. */
export class NotProven extends Error {
  override readonly name = 'NotProven';
}
