// The page that `ralph-gate report --format html` writes, in Chromium: it asks for nothing, everybody can use it, and it prints.
// Opens host/report/tests/golden/report.html, which the crate's own tests keep up to date.

import assert from "node:assert/strict";
import { mkdir, readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./lib/browser.mjs";
import { eventually, root } from "./lib/playground.mjs";
import { serve } from "./lib/server.mjs";

const golden = join(root, "host/report/tests/golden");
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
/** A4 without its margins, in CSS pixels. */
const PAPER = { width: 687, height: 1009 };
/** The most that a picture may have. */
const MOST_PICTURE = 200 * 1024;

let server;
let browser;
let page;
const asked = [];
const errors = [];

before(async () => {
  server = await serve(golden, "/");
  browser = await launch();
  page = browser.context.pages()[0];
  browser.context.on("request", (request) => asked.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => errors.push(message.text()));
});

after(async () => {
  await browser.close();
  server.close();
  assert.deepEqual(errors, [], "nothing is refused and nothing breaks");
});

async function show(size, { scheme = "light", media = "screen", opened = false } = {}) {
  await page.emulateMedia({ colorScheme: scheme, media });
  await page.setViewportSize(size);
  await page.goto("about:blank");
  asked.length = 0;
  await page.goto(`${server.url}report.html`);
  if (opened) await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
}

/** What axe finds that is serious or worse. */
async function violations() {
  await page.evaluate(`${axe}; void 0`);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`));
}

test("the page asks for itself and for nothing else", async () => {
  await show(DESKTOP, { opened: true });
  await page.waitForLoadState("networkidle");
  assert.deepEqual(asked, [`${server.url}report.html`]);
});

test("whatever got into the page could load and run nothing", async () => {
  const other = await browser.context.newPage();
  await other.goto(`${server.url}report.html`);
  const refused = [];
  const answered = [];
  other.on("console", (message) => refused.push(message.text()));
  other.on("response", (response) => answered.push(response.url()));
  await other.evaluate(() => {
    const picture = new Image();
    picture.src = "/picture.png";
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(picture, script);
    return fetch("/data.json").catch(() => null);
  });
  await eventually(other, () => {
    for (const what of ["inline script", "data.json", "picture.png"]) assert.ok(refused.some((text) => text.includes(what) && text.includes("Content Security Policy")), what);
  });
  assert.equal(await other.evaluate(() => window.ran), undefined);
  assert.deepEqual(answered, []);
  await other.close();
});

for (const scheme of ["light", "dark"]) {
  for (const [name, size] of [["desktop", DESKTOP], ["phone", PHONE]]) {
    test(`axe finds nothing serious: ${scheme}, ${name}`, async () => {
      await show(size, { scheme, opened: true });
      assert.deepEqual(await violations(), []);
    });
  }
}

test("landmarks and headings lead through the page", async () => {
  await show(DESKTOP);
  for (const role of ["banner", "navigation", "main", "contentinfo"]) assert.equal(await page.getByRole(role).count(), 1, role);
  const levels = await page.evaluate(() => [...document.querySelectorAll("h1, h2, h3")].map((heading) => Number(heading.tagName[1])));
  assert.equal(levels.filter((level) => level === 1).length, 1);
  levels.reduce((above, level) => (assert.ok(level <= above + 1, `h${level} below h${above}`), level));
  const sections = await page.getByRole("region").count();
  assert.ok(sections >= 8, `${sections} regions`);
  for (const link of await page.getByRole("navigation").getByRole("link").all()) {
    const target = await link.getAttribute("href");
    assert.equal(await page.locator(`h2${target}`).count(), 1, target);
  }
});

test("every figure says in words what it draws", async () => {
  await show(DESKTOP);
  const silent = await page.evaluate(() => {
    const said = (svg) => svg.getAttribute("aria-labelledby")?.split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ") ?? "";
    return [...document.querySelectorAll("svg")].filter((svg) => !svg.closest("[aria-hidden]") && !(svg.getAttribute("role") === "img" && said(svg).length > 20)).map((svg) => svg.outerHTML.slice(0, 120));
  });
  assert.deepEqual(silent, []);
  await page.getByRole("img", { name: /^False completes: −\d+\.\d points \(.* to .*\), better$/ }).waitFor();
  await page.getByRole("img", { name: "How runs ended, before" }).waitFor();
});

test("a table stays a table on a phone", async () => {
  await show(PHONE);
  const rows = page.getByRole("table", { name: /^Shares of runs/ }).getByRole("row");
  assert.equal(await rows.count(), 4);
  assert.equal(await rows.nth(2).getByRole("rowheader").count(), 1);
  assert.equal(await rows.nth(2).getByRole("cell").count(), 6);
});

test("the data in the page are the JSON that the command prints", async () => {
  await show(DESKTOP);
  const text = await page.locator("script#report").textContent();
  const printed = await readFile(join(golden, "report.json"), "utf8");
  assert.deepEqual(JSON.parse(text), JSON.parse(printed));
  assert.ok(!text.includes("<"), "no text in it can end the element");
});

test("names that mean harm are shown and do nothing", async () => {
  await show(DESKTOP, { opened: true });
  assert.equal(await page.locator("img:not(svg)").count(), 0);
  assert.ok((await page.getByText("</script><img src=x onerror=alert(1)>").count()) > 2);
  assert.ok((await page.getByText("rename \\u{1b}[2J\\u{202e}evil\\u{200b}").count()) > 0);
});

test("everything that opens is reached with the keyboard, and shows where it is", async () => {
  await show(DESKTOP);
  const wanted = await page.evaluate(() => [...document.querySelectorAll('a[href], summary, [tabindex="0"]')].filter((element) => element.checkVisibility()).length);
  await page.evaluate(() => (window.reached = new Set()));
  for (let press = 0; press < wanted; press++) {
    await page.keyboard.press("Tab");
    const lost = await page.evaluate(() => {
      const element = document.activeElement;
      window.reached.add(element);
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return outlineStyle === "none" || outlineWidth === "0px" ? element.outerHTML.slice(0, 120) : null;
    });
    assert.equal(lost, null);
  }
  assert.equal(await page.evaluate(() => window.reached.size), wanted);
  const summary = page.locator("summary").filter({ hasText: "False completes, after" }).first();
  await summary.focus();
  await page.keyboard.press("Enter");
  await page.locator("details[open] .ids code").first().waitFor();
});

test("nothing is wider than a phone, also when everything is open", async () => {
  for (const opened of [false, true]) {
    await show(PHONE, { opened });
    const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.equal(wide, screen);
  }
});

/** Letters of drawings that overlap or stick out, and drawings and tables that stick out of the page. */
function clipped() {
  const wrong = [];
  const edge = document.documentElement.clientWidth + 0.5;
  for (const element of document.querySelectorAll("svg, table.forest, figure, .steps, dl")) {
    if (!element.checkVisibility()) continue;
    const box = element.getBoundingClientRect();
    if (box.left < -0.5 || box.right > edge) wrong.push(`${element.tagName} ${element.className.baseVal ?? element.className} ends at ${box.right}`);
  }
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter((text) => getComputedStyle(text).display !== "none");
    const boxes = texts.map((text) => text.getBoundingClientRect());
    boxes.forEach((box, index) => {
      const text = texts[index].textContent;
      if (box.left < frame.left - 12 || box.right > frame.right + 12 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2) wrong.push(`${text} sticks out`);
      for (const other of boxes.slice(index + 1)) {
        if (box.left < other.right && other.left < box.right && box.top < other.bottom - 2 && other.top < box.bottom - 2) wrong.push(`${text} is overlapped`);
      }
    });
  }
  return wrong;
}

for (const [name, size, media] of [["a screen", DESKTOP, "screen"], ["a phone", PHONE, "screen"], ["paper", PAPER, "print"]]) {
  test(`no figure is clipped, and no letters overlap, on ${name}`, async () => {
    await show(size, { media });
    assert.deepEqual(await page.evaluate(clipped), []);
  });
}

test("on paper each figure fits a page, in ink on white, with its numbers", async () => {
  await show(PAPER, { media: "print", scheme: "dark" });
  const tall = await page.evaluate((height) => [...document.querySelectorAll("figure, .steps")].filter((figure) => figure.getBoundingClientRect().height > height).length, PAPER.height);
  assert.equal(tall, 0);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  assert.equal(await page.getByRole("navigation").count(), 0);
  await page.getByRole("table", { name: "Iterations per run" }).waitFor();
  const pdf = await page.pdf({ format: "A4" });
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  assert.ok(pages >= 3 && pages <= 10, `${pages} pages`);
});

test("the pictures of the report can be taken", async () => {
  const folder = process.env.BLESS ? join(root, "host/report/docs") : join(process.env.RALPH_GATE_PICTURES ?? browser.profile, "report");
  await mkdir(folder, { recursive: true });
  for (const [name, scheme] of [["report-light.png", "light"], ["report-dark.png", "dark"]]) {
    await show({ width: 1120, height: 1180 }, { scheme });
    const path = join(folder, name);
    await page.screenshot({ path });
    assert.ok((await stat(path)).size <= MOST_PICTURE, path);
  }
});
