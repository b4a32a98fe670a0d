// Parses Mermaid files with the real package; prints one JSON object for each: type, actors, messages.
import fs from 'node:fs';
import { JSDOM } from 'jsdom';

const dom = new JSDOM('<!doctype html><body></body>');
globalThis.window = dom.window;
globalThis.document = dom.window.document;
const { default: mermaid } = await import('mermaid');

for (const file of process.argv.slice(2)) {
  const text = fs.readFileSync(file, 'utf8');
  await mermaid.parse(text);
  const { type, db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  const messages = db.getMessages().map((found) => found.message);
  console.log(JSON.stringify({ type, actors: [...db.getActors().keys()], messages }));
}
