// The verdict, with everything that led to it. All of it is the gate's answer.

import { isError, type Answer, type GateError, type Ruling, type Verdict } from "../answers";
import { copy, Part, Prose } from "../prose";
import { tell } from "../store";
import { capital, short } from "../text";
import { headline, lineOf, needText, summary, TABLE, toneOf } from "../words";

interface Props {
  answer: Answer<Verdict> | null;
  /** Under the contract that the loop began with, where another one is looked at. */
  recorded: Ruling | null;
  changed: boolean;
  /** What stands above it: of an example, or of a comparison. */
  children?: preact.ComponentChildren;
}

export function VerdictPanel({ answer, recorded, changed, children }: Props) {
  const ruling = answer && !isError(answer) ? answer : null;
  return (
    <section class={`verdict tone-${toneOf(ruling)}`} aria-labelledby="verdict">
      {children}
      <div class="headline">
        <h2 id="verdict">{answer === null ? "Not reached" : headline(ruling)}</h2>
        {ruling && <Facts verdict={ruling} />}
        {answer === null && <p>This contract would have ended the loop before this iteration.</p>}
        {recorded && (
          <p class="was">
            {changed ? "It was " : "As it was: "}
            <strong>{summary(recorded)}</strong>
            {changed && " under the contract that the loop began with"}
          </p>
        )}
      </div>
      {answer && isError(answer) && <Refusal error={answer.error} />}
      {ruling && <Details verdict={ruling} />}
    </section>
  );
}

function Facts({ verdict }: { verdict: Verdict }) {
  return (
    <dl class="facts">
      <Fact name="decision" value={verdict.decision} />
      <Fact name="stop reason" value={verdict.stop_reason} />
      <Fact name="detail" value={verdict.detail} />
      <Fact name="signal" value={verdict.signal} />
      {verdict.intercepted && <Fact name="final" value="intercepted" />}
      {verdict.overridden && <Fact name="by" value="an operator" />}
      {verdict.profile && <Fact name="profile" value={verdict.profile} />}
      {verdict.shadow && <Fact name="would have been" value={summary(verdict.shadow)} />}
    </dl>
  );
}

function Fact({ name, value }: { name: string; value: string | null }) {
  if (value === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Refusal({ error }: { error: GateError }) {
  return (
    <div class="refusal">
      <p>
        <code class="code">{error.code}</code> <Prose text={error.message} />
      </p>
    </div>
  );
}

function Details({ verdict }: { verdict: Verdict }) {
  return (
    <>
      <DecisionTable ruling={verdict.shadow ? { ...verdict.shadow, overridden: false } : verdict} />
      <Failures verdict={verdict} />
      <Needs verdict={verdict} />
      <Promises verdict={verdict} />
      <Feedback text={verdict.feedback} />
      <Guardrails verdict={verdict} />
      <Fingerprint verdict={verdict} />
      <Checks verdict={verdict} />
      <details class="raw">
        <summary>The gate's whole answer</summary>
        <pre tabIndex={0}>{JSON.stringify(verdict, null, 2)}</pre>
      </details>
    </>
  );
}

function DecisionTable({ ruling }: { ruling: Ruling }) {
  const fired = lineOf(ruling);
  if (!fired) return null;
  return (
    <Part title={`Line ${fired.line} of the decision table`}>
      <ol class="table" aria-label="The decision table">
        {TABLE.map(({ line, when }) => (
          <li key={line} class={line === fired.line ? "fired" : line < fired.line ? "passed" : ""} aria-current={line === fired.line ? "true" : undefined} title={`${line}: ${when}`}>
            {line}
          </li>
        ))}
      </ol>
      <details class="when">
        <summary>
          <Prose text={fired.line === TABLE.length ? "No line before it applies: the loop goes on" : capital(fired.when)} />
        </summary>
        <ol class="lines">
          {TABLE.map(({ line, when }) => (
            <li key={line} class={line === fired.line ? "fired" : ""}>
              <span>{line}</span>
              <span>
                <Prose text={when} />
              </span>
            </li>
          ))}
        </ol>
      </details>
    </Part>
  );
}

function Failures({ verdict }: { verdict: Verdict }) {
  if (verdict.failures.length === 0) return null;
  return (
    <Part title="What stands in the way" note={verdict.failures.length}>
      <ul class="failures">
        {verdict.failures.map(({ code, check, reason }, index) => (
          <li key={index}>
            <code class="code">{code}</code>
            {check !== null && <code class="check">{check}</code>}
            <span>
              <Prose text={reason} />
            </span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Needs({ verdict }: { verdict: Verdict }) {
  if (verdict.needs.length === 0) return null;
  return (
    <Part title="What would complete it">
      <ul class="needs">
        {verdict.needs.map((need, index) => (
          <li key={index}>
            <Prose text={needText(need)} />
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Promises({ verdict: { promise } }: { verdict: Verdict }) {
  return (
    <Part title="Promises" note={promise.found}>
      {promise.found === 0 && <p class="quiet">There is no promise tag in the output.</p>}
      <ul class="promises">
        {promise.tags.map((tag, index) => (
          <li key={index}>
            <code class="tag">{tag.text === "" ? "(empty)" : tag.text}</code>
            <span class={tag.status === "accepted" ? "status tone-go" : "status tone-halt"}>{tag.status.replaceAll("_", " ")}</span>
            <span class="reason">
              {tag.reason}, at byte {tag.offset}
            </span>
          </li>
        ))}
      </ul>
      {promise.found > promise.tags.length && <p class="quiet">{promise.found - promise.tags.length} more are not listed.</p>}
      {promise.context.length > 0 && (
        <dl class="context">
          {promise.context.map(({ key, kind, value }) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>
                {value} <span class="quiet">{kind}</span>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {promise.context_warning !== null && <p class="quiet">{promise.context_warning}</p>}
    </Part>
  );
}

function Feedback({ text }: { text: string }) {
  if (text === "") return null;
  const onCopy = async () => tell((await copy(text)) ? { tone: "info", text: "The feedback is in your clipboard." } : { tone: "problem", text: "The clipboard could not be written." });
  return (
    <Part title="Feedback" note="as the agent gets it">
      <div class="feedback">
        <pre tabIndex={0} aria-label="Feedback">{text}</pre>
        <button type="button" class="small" onClick={onCopy}>
          Copy
        </button>
      </div>
    </Part>
  );
}

function Guardrails({ verdict }: { verdict: Verdict }) {
  const { guardrails } = verdict.counters;
  if (guardrails.length === 0) return null;
  return (
    <Part title="Guardrails">
      <ul class="gauges">
        {guardrails.map(({ name, used, limit, percent }) => (
          <li key={name}>
            <span class="gauge-name">{name}</span>
            <span class="gauge-value">
              {used} of {limit}
            </span>
            <meter class="hidden" aria-label={name} min={0} max={100} value={Math.min(percent, 100)}>
              {percent} %
            </meter>
            <span class={`gauge ${percent >= 100 ? "full" : percent >= 80 ? "near" : ""}`} aria-hidden="true">
              <span style={{ width: `${Math.min(percent, 100)}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Fingerprint({ verdict: { fingerprint } }: { verdict: Verdict }) {
  return (
    <Part title="Fingerprint" note={<code title={fingerprint.digest}>{short(fingerprint.digest)}</code>}>
      {fingerprint.diagnosis !== "" && (
        <p class="diagnosis">
          <Prose text={fingerprint.diagnosis} />
        </p>
      )}
      {!fingerprint.counted && <p class="quiet">There was nothing to compare: this iteration never counts as no progress.</p>}
      <ul class="fingerprint">
        {fingerprint.parts.map(({ name, digest, unchanged_for, note }) => (
          <li key={name}>
            <span class="part-name">{name}</span>
            <code title={digest}>{short(digest)}</code>
            <span class="quiet">{unchanged_for === 1 ? "new" : `the same for ${unchanged_for}`}</span>
            {note !== null && <span class="quiet part-note">{note}</span>}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Checks({ verdict: { checks, unused_checks } }: { verdict: Verdict }) {
  if (checks.length === 0 && unused_checks.length === 0) return null;
  return (
    <Part title="Checks">
      <ul class="judged">
        {checks.map(({ id, required, passed, flaky, code }) => (
          <li key={id}>
            <code>{id}</code>
            <span class={passed ? "status tone-go" : "status tone-halt"}>{passed ? "passed" : "not passed"}</span>
            <span class="quiet">{[required ? "required" : "optional", flaky ? "flaky" : null, code].filter(Boolean).join(", ")}</span>
          </li>
        ))}
        {unused_checks.map((id) => (
          <li key={id}>
            <code>{id}</code>
            <span class="status">unused</span>
            <span class="quiet">the contract doesn't name it</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}
