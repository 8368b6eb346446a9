// The error of octets that are not a message of KMIP.

/** A message that cannot be read. `message` follows "The message ". */
export class KmipMalformed extends Error {
  override readonly name = 'KmipMalformed';
}
