// Common parts of both formats of a bill of materials: their JSON, and an identifier that follows from the content.
import { hash } from 'node:crypto';

export function formatDocument(document: object): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** A UUID (version 8, RFC 9562) derived from a text. */
export function uuidOf(text: string): string {
  const digits = hash('sha256', text, 'hex');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
