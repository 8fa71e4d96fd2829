/** What the runner sends to a process of tests: the next file, or none if all are taken. */
export interface Order {
  file?: string
}

/** What a process of tests sends to the runner. */
export type Report =
  | { type: 'idle' }
  | { type: 'file'; file: string; seconds: number }
  | { type: 'test'; test: TestReport }
  /** These packages must be installed to run a file. */
  | { type: 'lacking'; file: string; packages: string[] }
  /** A message of the test runner that belongs to no test, such as an error after the end of one. */
  | { type: 'warning'; text: string }
  /** It has run all its files and does not end. */
  | { type: 'stuck'; by: string[] }

export interface TestReport {
  name: string
  file: string
  line: number
  outcome: 'passed' | 'failed' | 'skipped'
  seconds: number
  /** Why it failed or was skipped. */
  reason?: string
  /** A suite, or a test of which only a test inside it failed: it counts, and the inner one is shown. */
  outer: boolean
}
