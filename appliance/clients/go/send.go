package keystored

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// The functions below are what the generated methods are made of: one for each kind of answer.

func sendOnly(ctx context.Context, c *Client, op operation, p parts) error {
	_, err := c.call(ctx, op, p, nil)
	return err
}

func sendFor[T any](ctx context.Context, c *Client, op operation, p parts) (*T, error) {
	into := new(T)
	if _, err := c.call(ctx, op, p, into); err != nil {
		return nil, err
	}
	return into, nil
}

// sendForMaybe answers nil when there is nothing to tell.
func sendForMaybe[T any](ctx context.Context, c *Client, op operation, p parts) (*T, error) {
	into := new(T)
	answer, err := c.call(ctx, op, p, into)
	if err != nil || answer.StatusCode == http.StatusNoContent {
		return nil, err
	}
	return into, nil
}

func sendForOctets(ctx context.Context, c *Client, op operation, p parts) ([]byte, error) {
	var into []byte
	_, err := c.call(ctx, op, p, &into)
	return into, err
}

func sendForText(ctx context.Context, c *Client, op operation, p parts) (string, error) {
	text, err := sendForOctets(ctx, c, op, p)
	return string(text), err
}

// sendForStream answers what the caller reads and closes; it ends with the context too.
func sendForStream(ctx context.Context, c *Client, op operation, p parts) (io.ReadCloser, error) {
	return c.stream(ctx, op, p)
}

// sendForLines walks over documents, and over those that the links of answers lead to, until the appliance or the caller ends it.
func sendForLines(ctx context.Context, c *Client, op operation, p parts) Seq[json.RawMessage] {
	return func(yield func(json.RawMessage, error) bool) {
		call, err := p.request(op)
		// In the order of time: further answers to a search for the newest are older.
		var newer [][]json.RawMessage
		goesOn := true
		for err == nil {
			var next *url.URL
			var answer *http.Response
			if answer, err = c.streamed(ctx, call, p.options); err != nil {
				break
			}
			if next = nextOf(answer.Header); next != nil && next.Query().Has("before") {
				var all []json.RawMessage
				if all, err = Collect(linesOf(ctx, c, answer.Body)); err != nil {
					break
				}
				newer = append(newer, all)
			} else {
				linesOf(ctx, c, answer.Body)(func(line json.RawMessage, failure error) bool {
					if err = failure; err == nil {
						goesOn = yield(line, nil)
					}
					return err == nil && goesOn
				})
			}
			if next == nil || !goesOn {
				break
			}
			call = request{operation: op, url: next.EscapedPath(), query: next.Query()}
		}
		if err != nil && goesOn {
			yield(nil, err)
		}
		if err != nil || !goesOn {
			return
		}
		for index := len(newer) - 1; index >= 0; index-- {
			for _, line := range newer[index] {
				if !yield(line, nil) {
					return
				}
			}
		}
	}
}

// linesOf walks over the documents of one answer, which it closes.
func linesOf(ctx context.Context, c *Client, body io.ReadCloser) Seq[json.RawMessage] {
	return func(yield func(json.RawMessage, error) bool) {
		defer body.Close()
		lines := bufio.NewReader(body)
		for {
			line, err := lines.ReadBytes('\n')
			if err == nil && !yield(line, nil) || errors.Is(err, io.EOF) && len(line) == 0 {
				return
			}
			if err != nil {
				yield(nil, &TransportError{Address: c.link.bases[0], Sent: true, Err: causeOf(ctx, err)})
				return
			}
		}
	}
}

// parts of a call, as the generated methods know them.
type parts struct {
	names   []string
	query   url.Values
	header  http.Header
	body    any
	options []CallOption
}

// octets is a body that is not JSON.
type octets struct {
	mediaType string
	content   []byte
}

func addQuery[T any](into *parts, name string, value *T) {
	if value == nil {
		return
	}
	if into.query == nil {
		into.query = url.Values{}
	}
	into.query.Set(name, fmt.Sprint(*value))
}

func addHeader(into *parts, name string, value *string) {
	if value == nil {
		return
	}
	if into.header == nil {
		into.header = http.Header{}
	}
	into.header.Set(name, *value)
}

// Ptr makes an optional field: TransitKeyMerge{DeletionAllowed: keystored.Ptr(true)}.
func Ptr[T any](value T) *T { return &value }

// itemProblem is the problem of an item of a batch, in the form of a refusal; nil without a code.
func itemProblem(status *int64, code, message string) *Problem {
	if code == "" {
		return nil
	}
	problem := &Problem{Code: code, Detail: message}
	if status != nil {
		problem.Status = int(*status)
	}
	return problem
}
