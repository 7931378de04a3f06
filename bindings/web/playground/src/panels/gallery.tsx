// The examples, one click each.

import { EXAMPLES, GROUPS, open, type Example } from "../examples";
import { gate } from "../gate";
import { show } from "../store";
import { short } from "../text";

export function Gallery({ chosen, onChosen }: { chosen: string | null; onChosen: () => void }) {
  const choose = (example: Example) => {
    show(open(example));
    onChosen();
  };
  return (
    <nav class="gallery" aria-label="Examples" id="gallery">
      {GROUPS.map((group) => (
        <section key={group}>
          <h2>{group}</h2>
          <ul>
            {EXAMPLES.filter((example) => example.group === group).map((example) => (
              <li key={example.id}>
                <button type="button" class="example" data-example={example.id} aria-current={example.id === chosen ? "true" : undefined} onClick={() => choose(example)}>
                  {example.title}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <footer>
        <p>Everything runs in this page. Nothing is uploaded.</p>
        <p>
          gate {gate().version()} <code title={gate().digest()}>{short(gate().digest())}</code>
        </p>
      </footer>
    </nav>
  );
}
