import { runConformance, startChecked } from './checked-server.ts'
import { writeRecord } from './record.ts'

/**
 * `npm run conformance`: checks both variants of this Belfry, and writes docs/conformance.json, which the page /docs/conformance shows. Takes
 * options of the command, such as `-- --slow`.
 */
const server = await startChecked()
try {
  const { report, printed, status } = await runConformance(
    [server.url, server.versionedUrl, ...process.argv.slice(2)],
    server.secrets,
  )
  process.stdout.write(printed)
  // A failure must not become the record of a version.
  if (status === 0) writeRecord(report)
  process.exitCode = status ?? 1
} finally {
  await server.close()
}
