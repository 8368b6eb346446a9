package keystored

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Problem is a refusal: the RFC 9457 document of the appliance, or what can be said of an answer that has none.
//
//	var problem *keystored.Problem
//	if errors.As(err, &problem) && problem.Code == "not-found" { … }
//
// errors.Is(err, &keystored.Problem{Code: "not-found"}) says the same.
type Problem struct {
	// Status is the HTTP status; of an item of a batch, the one it would have had.
	Status int `json:"status"`
	// Code is the contract: kebab-case, never reused. It is CodeUnexpectedAnswer for an answer that is not the appliance's.
	Code string `json:"code"`
	// Title is the same for all problems of a code.
	Title string `json:"title"`
	// Detail says to a person what was wrong and how to mend it; from status 500 up it may be empty.
	Detail string `json:"detail,omitempty"`
	// RequestID finds the request in the audit trail and the logs of the appliance.
	RequestID string `json:"request-id"`
	// Errors has an entry for each thing that is wrong.
	Errors []ProblemItem `json:"errors,omitempty"`
	// RetryAfter is the pause the appliance asked for; zero when it did not.
	RetryAfter time.Duration `json:"-"`
	// Asked is the request for approval that was made in place of the call, with CodeApprovalAsked; nil for every other problem.
	Asked *ApprovalRequest `json:"-"`
}

// ProblemItem is one thing that is wrong: Info names the field.
type ProblemItem struct {
	Message string `json:"error-message"`
	Info    string `json:"error-info,omitempty"`
}

// CodeUnexpectedAnswer is the code of an answer that does not come from the appliance, for example the error page of a proxy.
const CodeUnexpectedAnswer = "unexpected-answer"

// CodeApprovalAsked is the code of a call that was not done: other people were asked to approve it.
const CodeApprovalAsked = "approval-asked"

// ApprovalRequest waits for the approval of other people. When they have approved, the same call runs once with WithApproval(ctx, ID).
type ApprovalRequest struct {
	ID     string `json:"id"`
	Needed int    `json:"needed"`
	// Expires is the end of the time for their approval.
	Expires time.Time `json:"expires"`
	// Words are six words for the whole request, which approvers compare.
	Words string `json:"digest-words"`
}

type approvalKey struct{}

// WithApproval has the calls of a context run as approved by other people under this id, which is for one use.
func WithApproval(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, approvalKey{}, [2]string{"Approval", id})
}

// AskApproval has the calls of a context ask other people for approval where a rule needs it: they end with a *Problem that has Asked.
// What no rule is about is done at once. The reason, 8 to 512 characters, is shown to them.
func AskApproval(ctx context.Context, reason string) context.Context {
	return context.WithValue(ctx, approvalKey{}, [2]string{"Approval-Reason", strings.ReplaceAll(url.QueryEscape(reason), "+", "%20")})
}

// asked reads the answer of a call that has asked for approval; it closes the body.
func asked(answer *http.Response) *Problem {
	defer answer.Body.Close()
	request := &ApprovalRequest{}
	if json.NewDecoder(io.LimitReader(answer.Body, mostProblemBytes)).Decode(request) != nil || request.ID == "" {
		return unexpected(answer.StatusCode, "The answer is "+describe(answer)+", not a request for approval.")
	}
	detail := fmt.Sprintf("waits for %d approvals until %s: %s (%s)", request.Needed, request.Expires.Format(time.RFC3339), request.ID, request.Words)
	return &Problem{Status: answer.StatusCode, Code: CodeApprovalAsked, Title: "Other people were asked", Detail: detail, Asked: request}
}

// Error says what was refused, why, and under which request id.
func (p *Problem) Error() string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "keystored: %s (%d)", p.Code, p.Status)
	switch {
	case p.Detail != "":
		text.WriteString(": " + p.Detail)
	case p.Title != "":
		text.WriteString(": " + p.Title)
	}
	if p.RequestID != "" {
		text.WriteString(" [request " + p.RequestID + "]")
	}
	return text.String()
}

// Is matches a *Problem that names a code, a status or both.
func (p *Problem) Is(target error) bool {
	wanted, ok := target.(*Problem)
	return ok && (wanted.Code != "" || wanted.Status != 0) &&
		(wanted.Code == "" || wanted.Code == p.Code) && (wanted.Status == 0 || wanted.Status == p.Status)
}

// TransportError is a request without an answer: the address was away, the certificate wrong, the time over.
type TransportError struct {
	// Address is the base address that was tried last.
	Address string
	// Sent says whether the request may have reached the appliance.
	Sent bool
	// Err is the cause.
	Err error
}

// Error names the address and the cause.
func (e *TransportError) Error() string { return fmt.Sprintf("keystored: %s: %v", e.Address, e.Err) }

// Unwrap answers the cause, for example context.Canceled.
func (e *TransportError) Unwrap() error { return e.Err }

const mostProblemBytes = 64 << 10

// problemOf reads the problem of an answer; it closes the body.
func problemOf(answer *http.Response) *Problem {
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostProblemBytes))
	problem := &Problem{}
	if err != nil || mediaType(answer) != "application/problem+json" || json.Unmarshal(body, problem) != nil || problem.Code == "" {
		problem = unexpected(answer.StatusCode, "The answer is "+describe(answer)+", not a problem document: it may come from a proxy.")
	}
	problem.Status = answer.StatusCode
	if problem.RequestID == "" {
		problem.RequestID = answer.Header.Get("Request-Id")
	}
	problem.RetryAfter = retryAfter(answer)
	return problem
}

func unexpected(status int, detail string) *Problem {
	return &Problem{Status: status, Code: CodeUnexpectedAnswer, Title: "Unexpected answer", Detail: detail}
}

func describe(answer *http.Response) string {
	if kind := mediaType(answer); kind != "" {
		return kind
	}
	return "of no media type"
}

func mediaType(answer *http.Response) string {
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// retryAfter reads both forms of RFC 9110 section 10.2.3; zero for none.
func retryAfter(answer *http.Response) time.Duration {
	text := answer.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		if wait := time.Until(at); wait > 0 {
			return wait
		}
	}
	return 0
}

// problemIn finds the problem in an error; nil for none.
func problemIn(err error) *Problem {
	var problem *Problem
	errors.As(err, &problem)
	return problem
}

// hasStatus says whether an error is a problem of a status.
func hasStatus(err error, status int) bool {
	problem := problemIn(err)
	return problem != nil && problem.Status == status
}

// hasCode says whether an error is a problem of one of the codes.
func hasCode(err error, codes ...string) bool {
	problem := problemIn(err)
	if problem == nil {
		return false
	}
	for _, code := range codes {
		if problem.Code == code {
			return true
		}
	}
	return false
}
