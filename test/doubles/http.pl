
# What these doubles share: a listener at an address of the simulated Mac, and one request per connection.
sub listener {
    my ($address) = @_;
    my $place = place_of($address) // refuse("$address: Can't assign requested address");
    return IO::Socket::INET->new(LocalAddr => $place, Proto => 'tcp', Listen => 64, ReuseAddr => 1)
        // refuse("$address: $!");
}

# Answers chat requests with the text that `answer` returns for the name of the model; undefined is an error.
sub serve {
    my ($http, $answer) = @_;
    while (my $client = $http->accept) {
        my ($method, $target, $body) = read_request($client);
        my $asked = eval { $json->decode($body // '') } // {};
        if (($target // '') ne '/v1/chat/completions') { say_json($client, 404, {}) }
        elsif (defined(my $text = $answer->($asked->{model} // ''))) { say_json($client, 200, completion($asked->{model}, $text, 1)) }
        else { say_json($client, 404, { error => 'no answer' }) }
        close $client;
    }
}
