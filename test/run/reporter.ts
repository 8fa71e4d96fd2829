import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import type { Report } from './messages.ts'

const root = `${import.meta.dirname}/../..`
const report = (message: Report) => process.send?.(message)

/** The error that the test runner makes of the test's own. */
type Failure = Error & { failureType?: string; cause?: unknown }

/** A reporter of Node's test runner that sends the outcome of each test to test/run/run.ts. */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter from there.
export default async function* send(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type === 'test:diagnostic' && data.level === 'error') report({ type: 'warning', text: data.message })
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { name, file = '', line = 0, details, skip } = data
    const isSuite = details.type === 'suite'
    const error: Failure | undefined = type === 'test:fail' ? data.details.error : undefined
    if (isSuite && !error) continue
    const inner = error?.failureType === 'subtestsFailed'
    if (isSuite && inner) continue
    const skipped = skip !== undefined && skip !== false
    report({
      type: 'test',
      test: {
        name,
        file: relative(root, file),
        line,
        outcome: error ? 'failed' : skipped ? 'skipped' : 'passed',
        seconds: (details.duration_ms ?? 0) / 1000,
        ...(error ? { reason: reasonOf(error) } : skipped && typeof skip === 'string' ? { reason: skip } : {}),
        outer: inner,
      },
    })
  }
  yield ''
}

function reasonOf(error: Failure) {
  const cause = error.cause ?? error
  return typeof cause === 'string' ? cause : inspect(cause)
}
