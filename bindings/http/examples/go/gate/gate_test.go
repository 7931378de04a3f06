package gate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func server(t *testing.T, status int, kind, body string, asked *string) *Client {
	t.Helper()
	handler := func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		*asked = r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(content)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
	found := httptest.NewServer(http.HandlerFunc(handler))
	t.Cleanup(found.Close)
	return &Client{URL: found.URL + "/"}
}

func TestAnIterationIsSentAndItsVerdictRead(t *testing.T) {
	var asked string
	client := server(t, 200, "application/json", `{"decision":"continue","snapshot":"s","feedback":"f"}`, &asked)
	verdict, err := client.Evaluate(context.Background(), "mode: ralph", nil, Iteration{Index: 1, Action: "final"})
	if err != nil || verdict.Decision != "continue" || *verdict.Snapshot != "s" || verdict.StopReason != nil {
		t.Fatal(verdict, err)
	}
	want := `POST /v1/evaluate-final application/json ` +
		`{"contract":"mode: ralph","iteration":{"index":1,"action":"final","output":""},"snapshot":null}`
	if asked != want {
		t.Fatal(asked)
	}
}

func TestAProblemIsAnErrorWithTheBytesOfTheGate(t *testing.T) {
	var asked string
	body := `{"code":"loop_stopped","detail":"d","status":409,"error":{"code":"loop_stopped"}}`
	client := server(t, 409, "application/problem+json", body, &asked)
	_, err := client.Evaluate(context.Background(), nil, nil, Iteration{})
	var found *Problem
	if !errors.As(err, &found) || found.Status != 409 || string(found.Gate) != `{"code":"loop_stopped"}` {
		t.Fatal(err)
	}
}

func TestWhatIsNoProblemIsNamedByItsStatus(t *testing.T) {
	var asked string
	client := server(t, 502, "text/html", "<html>", &asked)
	_, err := client.Evaluate(context.Background(), nil, nil, Iteration{})
	if err == nil || err.Error() != "the server answered with 502 Bad Gateway" {
		t.Fatal(err)
	}
}
