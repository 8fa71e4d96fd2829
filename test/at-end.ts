import { after } from 'node:test'

const endings: (() => unknown)[] = []

/** Closes what the test files of a process share, such as a browser, after the last of them. */
export const atEnd = (close: () => unknown) => void endings.push(close)

export const end = () => Promise.all(endings.map((close) => close()))

// Node runs the hooks of a process when it has no test at the moment, and test/run/worker.ts gets the next file later.
if (!process.channel) after(end)
