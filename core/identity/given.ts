// Absent members in answers of providers: many send null or an empty text instead, and both are read as absent.
import type { JsonObject } from '../wire/json.ts';

/** Returns the members of an answer that have a value. */
export function given(answer: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null && value !== ''));
}

/** As given, for metadata, where an absent list is often written as an empty one (Discovery 4.2). */
export function givenMetadata(answer: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(given(answer)).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}
