-- serve.lua - requests for wrk: SSTORE_FORM is get, json or binary; each has SSTORE_BATCH of the fingerprints in the lines of
-- SSTORE_QUERIES, in hexadecimal, in turns.
local form, batch = os.getenv("SSTORE_FORM"), tonumber(os.getenv("SSTORE_BATCH"))
local requests, next_request = {}, 0

local function bytes_of(hex) -- little-endian
  local bytes = {}
  for i = 15, 1, -2 do
    bytes[#bytes + 1] = string.char(tonumber(hex:sub(i, i + 1), 16))
  end
  return table.concat(bytes)
end

local function request_of(fingerprints)
  if form == "get" then
    return wrk.format("GET", "/v1/query?fp=" .. fingerprints[1])
  elseif form == "json" then
    return wrk.format("POST", "/v1/query", { ["Content-Type"] = "application/json" },
      '{"fingerprints":["' .. table.concat(fingerprints, '","') .. '"]}')
  end
  for i, hex in ipairs(fingerprints) do
    fingerprints[i] = bytes_of(hex)
  end
  return wrk.format("POST", "/v1/query", { ["Content-Type"] = "application/octet-stream" }, table.concat(fingerprints))
end

function init()
  local fingerprints = {}
  for line in io.lines(os.getenv("SSTORE_QUERIES")) do
    fingerprints[#fingerprints + 1] = line
    if #fingerprints == batch then
      requests[#requests + 1] = request_of(fingerprints)
      fingerprints = {}
    end
  end
end

function request()
  next_request = next_request % #requests + 1
  return requests[next_request]
end

function done(summary, latency)
  local seconds = summary.duration / 1e6
  local failed = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  io.write(string.format("%d %.1f %.0f %.0f %.0f %d\n", summary.requests, summary.requests / seconds, latency:percentile(50),
    latency:percentile(99), latency:percentile(99.9), failed))
end
