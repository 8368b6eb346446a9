package keystored

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Page is a part of a list.
type Page[T any] struct {
	// Items are the entries of this page.
	Items []T
	// Total counts the entries the caller may see on all pages; -1 when the appliance did not say.
	Total int64
	// After is where the next page begins: the value for `After` of its call. Empty on the last page.
	After string
}

// HasNext says whether there are more entries.
func (p *Page[T]) HasNext() bool { return p.After != "" }

// Seq is a walk over entries: it calls yield for each of them until yield answers false. From Go 1.23 on, range walks it:
//
//	for key, err := range client.TransitKeys.ListEach(ctx, nil) { … }
//
// An error is the last that is yielded.
type Seq[T any] func(yield func(T, error) bool)

// Collect reads a walk to its end, into memory.
func Collect[T any](walk Seq[T]) ([]T, error) {
	var all []T
	var failure error
	walk(func(item T, err error) bool {
		if failure = err; err != nil {
			return false
		}
		all = append(all, item)
		return true
	})
	return all, failure
}

func sendForPage[T any](ctx context.Context, c *Client, op operation, p parts) (*Page[T], error) {
	page := &Page[T]{Total: -1}
	answer, err := c.call(ctx, op, p, &page.Items)
	if err != nil {
		return nil, err
	}
	if total, err := strconv.ParseInt(answer.Header.Get("Total-Count"), 10, 64); err == nil {
		page.Total = total
	}
	page.After = nextAfter(answer.Header)
	return page, nil
}

// walkPages reads page after page; `fetch` gets where the page begins, nil for the first.
func walkPages[T any](fetch func(after *string) (*Page[T], error)) Seq[T] {
	return func(yield func(T, error) bool) {
		var after *string
		for {
			page, err := fetch(after)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if !page.HasNext() || after != nil && *after == page.After {
				return
			}
			after = &page.After
		}
	}
}

// nextAfter reads `after` of the link to the next page.
func nextAfter(header http.Header) string {
	if next := nextOf(header); next != nil {
		return next.Query().Get("after")
	}
	return ""
}

// nextOf reads the link to what follows (RFC 8288); nil for none.
func nextOf(header http.Header) *url.URL {
	for _, link := range strings.Split(strings.Join(header.Values("Link"), ","), ",") {
		target, parameters, _ := strings.Cut(link, ";")
		if !strings.Contains(strings.ReplaceAll(parameters, " ", ""), `rel="next"`) {
			continue
		}
		if parsed, err := url.Parse(strings.Trim(strings.TrimSpace(target), "<>")); err == nil {
			return parsed
		}
	}
	return nil
}
