package keystored

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

const jsonType = "application/json"

// Client is a connection to an appliance and an identity there. Make one and share it.
type Client struct {
	// Operations are the groups of operations of the API description.
	Operations

	link      *link
	authority *authority
}

// New makes a client. Nothing is sent before the first call.
func New(config Config) (*Client, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	link, err := newLink(config)
	if err != nil {
		return nil, err
	}
	client := &Client{link: link, authority: newAuthority(link, config)}
	client.Operations = operationsOf(client)
	return client, nil
}

// Close ends the idle connections. Calls under way go on; the client can be used again.
func (c *Client) Close() { c.link.client.CloseIdleConnections() }

// LogIn logs in now, or makes sure that the token works, so that a wrong secret shows at the start of a program.
func (c *Client) LogIn(ctx context.Context) error {
	ctx, cancel, _ := c.link.withTimeLimit(ctx, false)
	defer cancel()
	_, err := c.authority.token(ctx)
	return err
}

// LogOut ends the token of a login and closes the idle connections. The next call logs in again.
func (c *Client) LogOut(ctx context.Context) error {
	token := c.authority.held()
	if token == "" {
		return nil
	}
	err := c.Logins.Logout(ctx)
	c.authority.forget(token)
	c.Close()
	return err
}

// Random answers 1 to 131,072 random octets from the token of the appliance.
func (c *Client) Random(ctx context.Context, count int) ([]byte, error) {
	body := struct {
		Bytes  int    `json:"bytes"`
		Format string `json:"format"`
	}{count, "base64"}
	answer, err := sendFor[struct {
		Bytes []byte `json:"bytes"`
	}](ctx, c, opCryptoFunctionsRandomBytes, parts{body: body})
	if err != nil {
		return nil, err
	}
	return answer.Bytes, nil
}

// Request is one that no method is for.
type Request struct {
	Method string
	// Path begins with /v1; what is variable in it is escaped already.
	Path   string
	Query  url.Values
	Header http.Header
	// Body is sent as JSON; nil: none.
	Body any
	// Idempotent requests may be sent again when nothing is known of the first attempt.
	Idempotent bool
}

// Send sends a request that no method is for, with the token and the retries of the client. The body of the answer is in memory.
func (c *Client) Send(ctx context.Context, wanted Request) (*http.Response, error) {
	ctx, cancel, _ := c.link.withTimeLimit(ctx, false)
	defer cancel()
	call := request{
		operation: operation{method: wanted.Method, idempotent: wanted.Idempotent},
		url:       wanted.Path, query: wanted.Query, header: wanted.Header,
	}
	if wanted.Body != nil {
		var err error
		if call.body, err = encode(wanted.Body); err != nil {
			return nil, fmt.Errorf("keystored: %w", err)
		}
		call.contentType = jsonType
	}
	return c.open(ctx, call)
}

// CallOption adds to one call.
type CallOption func(*callOptions)

type callOptions struct{ header *http.Header }

// AnswerHeader stores the headers of the answer, such as Etag for a later If-Match.
func AnswerHeader(into *http.Header) CallOption {
	return func(options *callOptions) { options.header = into }
}

// open sends a request with the token of the client. After a refused token it logs in anew and sends it once more: nothing was done.
func (c *Client) open(ctx context.Context, call request) (*http.Response, error) {
	if call.public {
		return c.link.send(ctx, call)
	}
	for attempt := 1; ; attempt++ {
		token, err := c.authority.token(ctx)
		if err != nil {
			return nil, err
		}
		call.token = token
		answer, err := c.link.send(ctx, call)
		if attempt > 1 || !isTokenRefused(err) || !c.authority.forget(token) {
			return answer, err
		}
	}
}

func (p parts) request(op operation) (request, error) {
	call := request{operation: op, query: p.query, header: p.header}
	var err error
	if call.url, err = fillPath(op.path, p.names); err != nil {
		return call, err
	}
	switch body := p.body.(type) {
	case nil:
	case octets:
		call.body, call.contentType = body.content, body.mediaType
	default:
		if call.body, err = encode(body); err != nil {
			return call, fmt.Errorf("keystored: %w", err)
		}
		call.contentType = jsonType
	}
	return call, nil
}

// encode leaves <, > and & as they are: escaped they take six octets each.
func encode(value any) ([]byte, error) {
	buffer := &bytes.Buffer{}
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buffer.Bytes(), "\n"), nil
}

// call makes a call and reads its answer into what the answer is: nil for none, *[]byte for octets, else JSON.
func (c *Client) call(ctx context.Context, op operation, p parts, into any) (*http.Response, error) {
	ctx, cancel, _ := c.link.withTimeLimit(ctx, false)
	defer cancel()
	call, err := p.request(op)
	if err != nil {
		return nil, err
	}
	return c.finish(ctx, call, p.options, into)
}

func (c *Client) finish(ctx context.Context, call request, options []CallOption, into any) (*http.Response, error) {
	answer, err := c.open(ctx, call)
	if err != nil {
		return nil, err
	}
	keepHeader(answer, options)
	if target, isOctets := into.(*[]byte); isOctets {
		*target, err = io.ReadAll(answer.Body)
		return answer, err
	}
	return answer, readJSON(answer, into)
}

// stream makes a call whose answer the caller reads and closes.
func (c *Client) stream(ctx context.Context, op operation, p parts) (io.ReadCloser, error) {
	call, err := p.request(op)
	if err != nil {
		return nil, err
	}
	answer, err := c.streamed(ctx, call, p.options)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// streamed sends a request; the caller reads and closes the body of the answer.
func (c *Client) streamed(ctx context.Context, call request, options []CallOption) (*http.Response, error) {
	ctx, cancel, lift := c.link.withTimeLimit(ctx, true)
	call.streamed = true
	answer, err := c.open(ctx, call)
	if err != nil {
		cancel()
		return nil, err
	}
	lift()
	keepHeader(answer, options)
	answer.Body = &cancellingBody{answer.Body, cancel}
	return answer, nil
}

func keepHeader(answer *http.Response, options []CallOption) {
	chosen := callOptions{}
	for _, option := range options {
		option(&chosen)
	}
	if chosen.header != nil {
		*chosen.header = answer.Header
	}
}
