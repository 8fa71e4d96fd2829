import { parentPort } from 'node:worker_threads'
import highlighter from 'highlight.js/lib/core'
import { embedded } from './languages.ts'

export interface HighlightJob {
  text: string
  language: string
}

/** Loads a language, and those inside it, on first use. */
async function loadLanguage(name: string): Promise<void> {
  if (highlighter.getLanguage(name)) return
  const { default: language } = await import(`highlight.js/lib/languages/${name}`)
  highlighter.registerLanguage(name, language)
  for (const inner of embedded[name] ?? []) await loadLanguage(inner)
}

parentPort?.on('message', async ({ text, language }: HighlightJob) => {
  await loadLanguage(language)
  const { value } = highlighter.highlight(text, { language, ignoreIllegals: true })
  parentPort?.postMessage(value)
})
