# Completion of sstore for fish. The command itself knows what may follow: 'sstore --complete WORD...' prints it.
function __sstore_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l option (string match -r -- '^--[^=]*=' $last)
    for line in (command $words[1] --complete $words[2..-1] "$last" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (string replace -- "$option" '' $last) | string replace -r '^' -- "$option"
            case ':folders'
                __fish_complete_directories (string replace -- "$option" '' $last) '' | string replace -r '^' -- "$option"
            case '*'
                echo -- "$option$line"
        end
    end
end
complete -c sstore -f -a '(__sstore_complete)'
