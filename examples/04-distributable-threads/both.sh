# Both terminals in one, for `punctual trace`.
set -e
said=$(mktemp)
cargo run -q -p distributable-threads --bin tracker-server > "$said" &
server=$!
trap 'kill $server; rm "$said"' EXIT
until grep -q Tracking "$said"; do
    kill -0 $server
    sleep 0.1
done
cargo run -q -p distributable-threads --bin radar-client
