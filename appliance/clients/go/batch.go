package keystored

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
)

const (
	// mostBatchItems is the limit of the appliance.
	mostBatchItems = 1_000
	// mostBatchBytes leaves room below the 4 MiB of a request.
	mostBatchBytes = 3 << 20
	// usualBatchesAtOnce bounds how many requests of a stream are under way, and with them its memory.
	usualBatchesAtOnce = 4
)

// Source gives items one by one: it calls yield for each until yield answers false. An iter.Seq of Go 1.23 is one. It runs in a goroutine
// of its own, a few thousand items ahead of what has been read; one that waits for something should end with its context.
type Source[T any] func(yield func(T) bool)

// FromSlice is the source of a slice's items.
func FromSlice[T any](items []T) Source[T] {
	return func(yield func(T) bool) {
		for _, item := range items {
			if !yield(item) {
				return
			}
		}
	}
}

// FromChannel is the source of what comes from a channel until it is closed or the context ends.
func FromChannel[T any](ctx context.Context, items <-chan T) Source[T] {
	return func(yield func(T) bool) {
		for {
			select {
			case item, open := <-items:
				if !open || !yield(item) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// batch is one request of a stream: its items encoded, and their references.
type batch struct {
	items      [][]byte
	references []string
	size       int
}

// outcome is what became of one request of a stream.
type outcome[R any] struct {
	results []BatchResult[R]
	err     error
}

// stream sends the items in batches, a few at once, and yields the results in the order of the items. A channel of a channel for each
// request keeps the order, and its capacity bounds how many are under way: one more is waited for.
func stream[I, R any](outer context.Context, k *Key, act action[I, R], items Source[I]) Seq[BatchResult[R]] {
	atOnce := k.options.BatchesAtOnce
	if atOnce < 1 {
		atOnce = usualBatchesAtOnce
	}
	return func(yield func(BatchResult[R], error) bool) {
		ctx, cancel := context.WithCancel(outer)
		defer cancel()
		pending := make(chan chan outcome[R], atOnce-1)
		go func() {
			defer close(pending)
			split(k, act, items, func(one batch, err error) bool {
				slot := make(chan outcome[R], 1)
				select {
				case pending <- slot:
				case <-ctx.Done():
					return false
				}
				if err != nil {
					slot <- outcome[R]{err: err}
					return false
				}
				go func() { slot <- sendBatch(ctx, k, act, one) }()
				return true
			})
		}()
		for slot := range pending {
			done := <-slot
			if done.err != nil {
				yield(BatchResult[R]{}, done.err)
				return
			}
			for _, result := range done.results {
				if !yield(result, nil) {
					return
				}
			}
		}
		if cause := context.Cause(outer); cause != nil {
			yield(BatchResult[R]{}, &TransportError{Address: k.client.link.bases[0], Err: cause})
		}
	}
}

// split encodes the items and hands them on in batches that fit in a request. An item that is larger than that goes alone.
func split[I, R any](k *Key, act action[I, R], items Source[I], send func(one batch, err error) bool) {
	open, goesOn := batch{}, true
	items(func(item I) bool {
		wire := k.options.complete(act.wire(item))
		encoded, err := encode(wire)
		if err != nil {
			goesOn = false
			if len(open.items) == 0 || send(open, nil) {
				send(batch{}, fmt.Errorf("keystored: an item of a batch: %w", err))
			}
			return false
		}
		if n := len(open.items); n == mostBatchItems || n > 0 && open.size+len(encoded)+1 > mostBatchBytes {
			if goesOn = send(open, nil); !goesOn {
				return false
			}
			open = batch{}
		}
		open.items, open.references = append(open.items, encoded), append(open.references, wire.Reference)
		open.size += len(encoded) + 1
		return true
	})
	if goesOn && len(open.items) > 0 {
		send(open, nil)
	}
}

func sendBatch[I, R any](ctx context.Context, k *Key, act action[I, R], one batch) outcome[R] {
	op := act.operation
	op.path, op.idempotent, op.partial = op.path+"-batch", true, true
	answer := struct {
		Results []wireResult `json:"batch-results"`
	}{}
	body := bytes.Join([][]byte{[]byte(`{"batch-input":[`), bytes.Join(one.items, []byte{','}), []byte(`]}`)}, nil)
	_, err := k.client.call(ctx, op, parts{names: []string{k.name}, body: octets{jsonType, body}}, &answer)
	results := make([]BatchResult[R], len(one.items))
	for index := range results {
		results[index].Reference = one.references[index]
	}
	switch {
	case len(results) == 1 && hasStatus(err, http.StatusRequestEntityTooLarge):
		// One item that alone is too large is a fault of that item.
		results[0].Problem = problemIn(err)
		return outcome[R]{results: results}
	case err != nil:
		return outcome[R]{err: err}
	case len(answer.Results) != len(results):
		return outcome[R]{err: fmt.Errorf("keystored: %d results for %d items of a batch", len(answer.Results), len(results))}
	}
	for index, wire := range answer.Results {
		value := act.read(wire)
		switch results[index].Problem = itemProblem(wire.Status, wire.Code, wire.ErrorMessage); {
		case results[index].Problem != nil:
		case value == nil:
			return outcome[R]{err: errNoResult}
		default:
			results[index].Value = *value
		}
	}
	return outcome[R]{results: results}
}
