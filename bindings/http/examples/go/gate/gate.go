// Package gate asks ralph-gate over HTTP. It decides nothing: it sends JSON and reads the answer.
package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// Client asks one server.
type Client struct {
	// URL is where the server is, for example http://127.0.0.1:8080.
	URL string
	// HTTP sends the requests; nil is http.DefaultClient.
	HTTP *http.Client
}

// Problem says why the server did not answer (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
	// Gate is what the gate answered, byte for byte. Nil where the gate was not asked.
	Gate json.RawMessage `json:"error,omitempty"`
}

// Error is the gate's own message.
func (p *Problem) Error() string {
	return fmt.Sprintf("%s: %s", p.Code, p.Detail)
}

// Iteration is one turn of the agent. Fields that are left out mean empty.
type Iteration struct {
	Index  int     `json:"index"`
	Action string  `json:"action"`
	Output string  `json:"output"`
	Checks []Check `json:"checks,omitempty"`
}

// Check is evidence that somebody else than the agent gathered.
type Check struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

// Verdict is the gate's answer, as far as a loop needs it.
type Verdict struct {
	Decision   string  `json:"decision"`
	StopReason *string `json:"stop_reason"`
	Detail     *string `json:"detail"`
	Feedback   string  `json:"feedback"`
	// Snapshot is the loop's state: give it back with the next iteration.
	Snapshot *string `json:"snapshot"`
}

// Evaluate asks whether the loop may stop. The contract is an object, or a string with its text.
func (c *Client) Evaluate(ctx context.Context, contract any, snapshot *string, iteration Iteration) (Verdict, error) {
	var verdict Verdict
	input := map[string]any{"contract": contract, "snapshot": snapshot, "iteration": iteration}
	err := c.Call(ctx, "/v1/evaluate-final", input, &verdict)
	return verdict, err
}

// Call posts input to a path and reads the answer into output. An error of the server is a *Problem.
func (c *Client) Call(ctx context.Context, path string, input, output any) error {
	body, err := json.Marshal(input)
	if err != nil {
		return err
	}
	url := strings.TrimRight(c.URL, "/") + path
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return problem(response)
	}
	return json.NewDecoder(response.Body).Decode(output)
}

// problem reads the body of a response that is no result. What is between here and the gate may answer, too.
func problem(response *http.Response) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var found Problem
	if kind != "application/problem+json" || json.NewDecoder(response.Body).Decode(&found) != nil {
		return fmt.Errorf("the server answered with %s", response.Status)
	}
	return &found
}
