import { writeFileSync } from 'node:fs'
import { countRoundTrips } from '#test/round-trips.ts'

// Loaded before a Belfry that is measured. SIGUSR2 writes the number of its round trips to the file that BENCH_ROUND_TRIPS names.
const file = process.env.BENCH_ROUND_TRIPS
if (file) process.on('SIGUSR2', () => writeFileSync(file, `${countRoundTrips()}\n`))
