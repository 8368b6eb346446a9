package keystored

import (
	"bytes"
	"encoding/json"
)

// Nullable is what a merge does to a field that can be removed: [Set] or [Remove]. A nil pointer leaves the field as it is.
type Nullable[T any] struct {
	value     T
	isRemoved bool
}

// Set gives a field a value.
func Set[T any](value T) *Nullable[T] { return &Nullable[T]{value: value} }

// Remove removes what a field is.
func Remove[T any]() *Nullable[T] { return &Nullable[T]{isRemoved: true} }

// Get answers the value; false for a removal.
func (n Nullable[T]) Get() (T, bool) { return n.value, !n.isRemoved }

// MarshalJSON writes null for a removal.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if n.isRemoved {
		return []byte("null"), nil
	}
	return encode(n.value)
}

// UnmarshalJSON reads null as a removal.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	*n = Nullable[T]{isRemoved: bytes.Equal(text, []byte("null"))}
	if n.isRemoved {
		return nil
	}
	return json.Unmarshal(text, &n.value)
}
