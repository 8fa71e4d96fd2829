import { testAnswers } from '#test/openapi-answers.ts'

testAnswers(['self-hosted', 'versioned'], [false, false, true, true])
